"""What a run's events alone say of it: the statuses after any of them, without a row. For the time scrubber, and to
check that rows and events never differ.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from runs.core.definition import Definition
from runs.core.rows import Event
from runs.core.states import RunStatus, StepStatus


@dataclass
class Folded:
    run: RunStatus = RunStatus.RUNNING
    steps: dict[str, StepStatus] = field(default_factory=dict)  # by path


def fold(definition: Definition, events: Iterable[Event]) -> Folded:
    """Replays events 1..n. That a step run came to be is not told of itself: its scope opens with the run, or with the
    first that is told of one of its siblings.
    """
    folded = Folded()
    _open_scope(definition, folded, container=None, prefix="")
    for event in events:
        subject, _, status = event.type.partition(".")
        if subject == "run":
            folded.run = RunStatus(status)
        elif subject == "step":
            assert event.path is not None
            if event.path not in folded.steps:
                container, prefix = _scope_of(definition, event.path)
                _open_scope(definition, folded, container=container, prefix=prefix)
            folded.steps[event.path] = StepStatus(status)
    return folded


def _open_scope(definition: Definition, folded: Folded, *, container: str | None, prefix: str) -> None:
    for node in definition.scope_of(container).order:
        folded.steps[prefix + node.key] = StepStatus.PENDING


def _scope_of(definition: Definition, path: str) -> tuple[str, str]:
    """The container's node id, and what the paths of its item begin with: of `E[0].F[2].X`, F's id and `E[0].F[2].`."""
    item = path[: path.rindex(".")]
    key = item[: item.rindex("[")].rpartition(".")[2]
    return definition.by_key[key].id, item + "."
