"""What can go wrong with workflows."""

from kit.errors import Conflict, NotFound, Unprocessable


class WorkflowNotFound(NotFound):
    code = "workflow_not_found"


class VersionNotFound(NotFound):
    code = "version_not_found"


class WorkflowArchived(Conflict):
    code = "workflow_archived"


class VersionUnchanged(Conflict):
    """The draft is what the newest version (`data.version`) is already: nothing was published."""

    code = "version_unchanged"


class DraftConflict(Conflict):
    """Somebody saved meanwhile. `data` is the present draft, as GET .../draft answers it."""

    code = "draft_conflict"


class DraftHasProblems(Unprocessable):
    """`data.problems` lists them all; those of severity 'error' must be mended first."""

    code = "draft_has_problems"
