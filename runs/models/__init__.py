"""Rows of running workflows. Written by runs/store and runs/engine only; everybody else reads.

JSON values are kept as text: any JSON value comes back equal (NUL characters, lone surrogates, 64-bit integers). All
times are the database's clock. The tables that grow (event, attempt, checkpoint, log chunk) are partitioned by the day
on which their run was created; `run_day` is part of every key of theirs, and no foreign key points at them.
"""

from runs.models.bulk import BulkOperation, BulkRun
from runs.models.fleet import ClusterEpoch, Sweeper, Worker
from runs.models.history import Attempt, Checkpoint, Event, LogChunk, Payload
from runs.models.keeping import Artifact, ArtifactFile, Retention
from runs.models.late import LateEffect
from runs.models.limit import Limit, LimitStart
from runs.models.listing import FailureGroup, RunFailure, RunLabel, SavedView
from runs.models.outbox import Outbox
from runs.models.run import Command, Run
from runs.models.step import StepRun, Wait
from runs.models.trigger import Firing, Trigger
from runs.models.waiting import Callback, Vote
from runs.models.watching import AlertDelivery, AlertFact, AlertRule, Look, RunHour

__all__ = [
    "AlertDelivery",
    "AlertFact",
    "AlertRule",
    "Artifact",
    "ArtifactFile",
    "Attempt",
    "BulkOperation",
    "BulkRun",
    "Callback",
    "Checkpoint",
    "ClusterEpoch",
    "Command",
    "Event",
    "FailureGroup",
    "Firing",
    "LateEffect",
    "Limit",
    "LimitStart",
    "LogChunk",
    "Look",
    "Outbox",
    "Payload",
    "Retention",
    "Run",
    "RunFailure",
    "RunHour",
    "RunLabel",
    "SavedView",
    "StepRun",
    "Sweeper",
    "Trigger",
    "Vote",
    "Wait",
    "Worker",
]
