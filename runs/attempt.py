"""What an attempt gets from the engine (its job), and where its log, checkpoints and progress go."""

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
from django.conf import settings
from django.db import InterfaceError, OperationalError, close_old_connections

from builder.connections.selectors import settings_of
from builder.graph.model import Node
from kit.clock import monotonic_s
from kit.errors import AppError
from runs.core.definition import Definition
from runs.core.keys import idempotency_key
from runs.core.outcomes import Error, Failed, Outcome, Reused, Succeeded
from runs.core.reuse import input_hash, may_reuse
from runs.engine.artifacts import keep_artifact
from runs.engine.callback import issue
from runs.engine.checkpoint import checkpoints_of, keep_checkpoint, keep_log, previous_of
from runs.engine.definitions import definition_of
from runs.engine.repair import override_of
from runs.engine.reuse import find_result
from runs.engine.scope import Values, callbacks_of, rounds_of, scope_of
from runs.link import Link
from runs.runner.jobs import SECRETS
from runs.runner.masks import masker_of
from runs.runner.messages import Checkpoint, Job, Previous
from runs.store.claim import Held
from runs.store.read import Connection

TOLD_EVERY_S = 1.0
LEFT_OF_TOTAL = "SELECT extract(epoch FROM total_until - statement_timestamp()) FROM runs_steprun WHERE id = %s"
UNKNOWN = "unknown"
CALLBACKS = ""  # among a job's connections: no connection has this name


def job_for(connection: Connection, held: Held, *, values: Values) -> Job | Failed:
    """All that the child needs for this attempt; a failure where the settings name a connection that cannot be had."""
    definition = definition_of(connection, held.version_id)
    node = definition.nodes[held.node_id]
    try:
        connections = connections_of(node, held.workspace_id)
    except AppError as problem:
        return Failed(Error(problem.code, problem.message))
    scope = scope_of(connection, held, definition=definition, values=values)
    if paths := callbacks_of(held, definition):
        tokens = issue(connection, held.run_id, paths, secret=settings.SECRET_KEY)
        scope["run"]["callbacks"] = {key: callback_url(token) for key, token in tokens.items()}
        connections[CALLBACKS] = {SECRETS: list(tokens.values())}  # so that no viewer reads them in the input
    config, is_resolved = config_of(connection, held, definition)
    return Job(
        run_id=str(held.run_id),
        step_run_id=held.step_run_id,
        path=held.path,
        attempt=held.attempt,
        fence=held.fence,
        kind=node.kind,
        config=config,
        is_resolved=is_resolved,
        scope=scope,
        idempotency_key=idempotency_key(held.key_root, held.path, held.edition),
        limit_s=definition.limit_s(node),
        idle_limit_s=node.policy.idle_limit_s,
        total_limit_s=node.policy.total_limit_s,
        total_left_s=_left_of_total(connection, held) if node.policy.total_limit_s else None,
        skip_if=None if rounds_of(connection, held, definition) else node.policy.skip_if,  # of a loop: before its first
        storage_root=_folder_text(settings.STORAGE_ROOT, held.workspace_id),
        outbound_allow=sorted(settings.OUTBOUND_ALLOW),
        connections=connections,
        **(_of_earlier_attempts(connection, held) if held.attempt > 1 else {}),
        output_limit_bytes=settings.OUTPUT_LIMIT_BYTES,
        log_limit_bytes=settings.LOG_LIMIT_BYTES,
        artifact_root=_folder_text(settings.ARTIFACT_ROOT, held.workspace_id),
        artifact_limit_bytes=settings.ARTIFACT_LIMIT_BYTES,
        asks_reuse=_asks_reuse(held, definition),
    )


@lru_cache(maxsize=1_024)
def _folder_text(root: Path, workspace_id: UUID) -> str:
    """A workspace's own folder below a root. Kept, because paths are slow, and each attempt is told of two."""
    return str(root / str(workspace_id))


def _asks_reuse(held: Held, definition: Definition) -> bool:
    """Run again by a person's decision, it is run."""
    node = definition.nodes[held.node_id]
    return held.edition == 1 and may_reuse(node, definition.specs[node.kind])


def _of_earlier_attempts(connection: Connection, held: Held) -> dict[str, Any]:
    kept, before = checkpoints_of(connection, held.step_run_id), previous_of(connection, held)
    return {
        "checkpoints": [Checkpoint(key, kind, json.loads(value), attempt) for key, kind, value, attempt in kept],
        "previous": before and Previous(before[0], before[1], json.loads(before[2] or "null")),
    }


def _left_of_total(connection: Connection, held: Held) -> float | None:
    """Seconds of the limit of all attempts together, by the database's clock."""
    found = connection.execute(LEFT_OF_TOTAL, (held.step_run_id,)).fetchone()
    return None if found is None or found[0] is None else float(found[0])


def callback_url(token: str) -> str:
    """A link as the outside is given it."""
    return f"{settings.PUBLIC_URL}/api/callbacks/{token}"


def config_of(connection: Connection, held: Held, definition: Definition) -> tuple[Mapping[str, Any], bool]:
    """The node's settings, or what a person put in their place, and whether they are free of expressions.

    Settings that are read only when the step is asked after a round are there only then, also where they are empty.
    """
    node = definition.nodes[held.node_id]
    asks = definition.specs[node.kind].asks
    if rounds_of(connection, held, definition):
        return {**dict.fromkeys(asks), **node.config}, False
    override = override_of(connection, held.step_run_id) if held.edition > 1 else None  # an edit raises the edition
    config: Mapping[str, Any] = node.config if override is None else json.loads(override)
    if asks:
        config = {name: value for name, value in config.items() if name not in asks}
    return config, override is not None


def connections_of(node: Node, workspace_id: UUID) -> dict[str, dict[str, object]]:
    """Raises psycopg's OperationalError where the database does not answer, as the engine's own statements do."""
    name = node.config.get("connection")
    if not isinstance(name, str) or not name:
        return {}
    try:
        return settings_of(workspace_id, [name])
    except (OperationalError, InterfaceError) as error:
        raise psycopg.OperationalError(str(error)) from error
    finally:
        close_old_connections()


class Reusing:
    """Looks for a result that the attempt may take instead of calling its body, and marks its own for later steps."""

    def __init__(self, link: Link, held: Held, job: Job) -> None:
        self._link, self._held, self._job = link, held, job
        self._hash: bytes | None = None

    def find(self, resolved: Any) -> Reused | None:
        """`resolved` is masked."""

        connections = {
            name: masker_of({name: settings}).value({key: value for key, value in settings.items() if key != SECRETS})
            for name, settings in self._job.connections.items()
        }

        def look(connection: Connection, _: bool) -> Reused | None:
            node = definition_of(connection, self._held.version_id).nodes[self._held.node_id]
            self._hash = input_hash(node, resolved, connections)
            return find_result(connection, self._held, node, input_hash=self._hash)

        return self._link.retry(look)

    def mark(self, outcome: Outcome) -> Outcome:
        return replace(outcome, input_hash=self._hash) if isinstance(outcome, Succeeded) else outcome


class Notes:
    """What an attempt tells while it runs: its log in pieces by offset, what it keeps; its progress and cursors stored
    at most once a second. Each raises FencedOut.
    """

    def __init__(self, link: Link, held: Held) -> None:
        self._link = link
        self._held = held
        self._offset = 0
        self._ordinal = 0
        self._told_at = 0.0
        self._untold: dict[tuple[str, str], Any] = {}  # (kind, name) -> the latest
        self.acts: dict[str, str] = {}  # that it began: done, failed, or UNKNOWN until it says

    def write(self, text: str) -> None:
        text = text.replace("\x00", "␀")  # as it is stored: the offsets count what a reader gets
        offset = self._offset
        self._offset += len(text.encode("utf-8", "replace"))
        self._link.retry(lambda connection, _: keep_log(connection, self._held, offset=offset, text=text))

    def keep(self, kind: str, key: str, value: Any) -> Any:
        """Returns once it is stored, with what the body is told of it."""
        if kind == "artifact":
            return keep_artifact(self._link.retry, self._held, name=key, staged=value)
        if kind == "act" and value["state"] != "intended":
            self.acts[key] = value["state"]  # also where it is refused below: the effect has been, however late
        self._ordinal += 1
        ordinal = self._ordinal
        self._link.retry(
            lambda connection, _: keep_checkpoint(
                connection, self._held, kind=kind, key=key, value=value, ordinal=ordinal
            )
        )
        if kind == "act":
            self.acts.setdefault(key, UNKNOWN)
        return None

    def progress(self, done: float, total: float | None, text: str) -> None:
        self._untold["progress", ""] = {"done": done, "total": total, "text": text}
        self.tick()

    def move(self, name: str, position: Any) -> None:
        self._untold["cursor", name] = position
        self.tick()

    def tick(self) -> None:
        """Stores what waits, where the last time is long enough ago."""
        if self._untold and monotonic_s() - self._told_at >= TOLD_EVERY_S:
            self.flush()

    def flush(self) -> None:
        untold, self._untold, self._told_at = self._untold, {}, monotonic_s()
        for (kind, name), value in untold.items():
            self.keep(kind, name, value)
