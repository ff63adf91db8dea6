"""Why a step that is ready does not run: a limit holds it, nobody can run it, or it waits for a free thread."""

from datetime import timedelta

from django.db.models.functions import Now

from runs.core.limits import PAUSED, queue_limit, workspace_limit
from runs.models import Limit, StepRun, Worker

HEARD_S = 15.0  # a worker that was not heard for longer counts as away


def why_ready(step: StepRun) -> str:
    if step.held_by is not None:
        return held(step)
    workers = Worker.objects.filter(dead_at=None, heartbeat_at__gte=Now() - timedelta(seconds=HEARD_S))
    serving = [worker for worker in workers.only("queues", "kinds") if step.queue in worker.queues.split(",")]
    if not serving:
        return f"Ready: no worker serves the lane '{step.queue}'. Start one (PAWL_WORKER_QUEUES)."
    if not any(knows(worker, step) for worker in serving):
        return (
            f"Ready: no capable worker. None of those that serve the lane '{step.queue}' has the step kind "
            f"'{step.kind}': one of a newer version will take it."
        )
    if full := full_limit(step):
        return f"Ready: waits for room under the limit {full}."
    return f"Ready: waits for a worker that serves the lane '{step.queue}'."


def knows(worker: Worker, step: StepRun) -> bool:
    """A worker of a version that did not tell its kinds is taken at its word."""
    return not worker.kinds or step.kind in worker.kinds.split(",")


def held(step: StepRun) -> str:
    sort, _, name = (step.held_by or "").partition(":")
    if sort == PAUSED:
        return "Ready: it starts within seconds, as its run goes on."
    if sort == "workflow":
        return "Ready: waits for its turn. As many runs of this workflow are under way as may be at once."
    if sort == "run":
        key = name.partition(":")[2]
        return f"Ready: waits for its turn. As many runs with the key '{key}' are under way as may be at once."
    parts = []
    if step.limit_at_most is not None:
        parts.append(f"at most {step.limit_at_most} run at once")
    if step.rate_starts is not None and step.rate_per_s is not None:
        parts.append(f"at most {step.rate_starts} start in {step.rate_per_s:g} s")
    return f"Ready: waits for room under the limit '{step.limit_key}': {', '.join(parts) or 'it is being let go'}."


def full_limit(step: StepRun) -> str | None:
    names = {queue_limit(step.queue): {"queue": step.queue}}
    if step.workspace_id is not None:
        names[workspace_limit(step.workspace_id)] = {"workspace_id": str(step.workspace_id)}
    for limit in Limit.objects.filter(name__in=list(names)):
        if StepRun.objects.filter(status="running", **names[limit.name]).count() >= limit.at_most:
            sort = limit.name.partition(":")[0]
            return f"of the {'lane' if sort == 'queue' else 'workspace'} (at most {limit.at_most} at once)"
    return None
