"""Questions about what is kept: the files that attempts made, and how long a workspace keeps its runs."""

from typing import Any

from django.conf import settings

from kit.errors import NotFound
from runs.models import Artifact, Retention, Run, StepRun
from teams.access import Actor, visible_to
from teams.models import Workspace


def retention_of(actor: Actor, workspace: Workspace) -> dict[str, Any]:
    """`days` is the workspace's own choice (0: for ever; None: as the installation says), `effective_days` what
    holds.
    """
    own = visible_to(actor, Retention.objects.all(), workspace).first()
    days = own.days if own else None
    return {
        "days": days,
        "effective_days": settings.RETENTION_DAYS if days is None else days,
        "changed_at": own.changed_at if own else None,
        "changed_by": own.changed_by if own else None,
    }


class ArtifactNotFound(NotFound):
    code = "artifact_not_found"


def artifacts_of(step: StepRun) -> list[dict[str, Any]]:
    """The step's artifacts of all attempts, in the order in which they were made."""
    rows = Artifact.objects.filter(step_run_id=step.id).select_related("file").order_by("id")
    return [artifact_shape(row) for row in rows]


def artifact_for(run: Run, artifact_id: int) -> Artifact:
    """Raises ArtifactNotFound, also for one of another run."""
    rows = Artifact.objects.filter(step_run__run_id=run.id, id=artifact_id)
    found = rows.select_related("file").first() if artifact_id < 2**63 else None
    if found is None:
        raise ArtifactNotFound("This run has no such artifact.")
    return found


def artifact_shape(artifact: Artifact) -> dict[str, Any]:
    return {
        "id": artifact.id,
        "name": artifact.name,
        "media_type": artifact.media_type,
        "size": artifact.file.size,
        "sha256": bytes(artifact.file.sha256).hex(),
        "attempt": artifact.attempt,
        "at": artifact.at,
    }
