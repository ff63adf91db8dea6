"""What is wrong with a graph document that cannot be read."""

from collections.abc import Sequence
from dataclasses import dataclass

from kit.errors import BadInput

SHOWN = 3  # problems that the message itself tells; data.fields has all of them


@dataclass(frozen=True)
class FieldFault:
    """`field` is a path from the document's root: `nodes[2].key`."""

    field: str
    message: str
    node: str | None = None

    def as_json(self) -> dict[str, str]:
        shown = {"field": self.field, "message": self.message}
        return shown if self.node is None else {**shown, "node": self.node}


class GraphError(BadInput):
    """The document is no graph. `data.fields` names every fault at once: `{field, message, node?}`."""

    code = "graph_malformed"

    def __init__(self, faults: Sequence[FieldFault]) -> None:
        told = "; ".join(f"{fault.field}: {fault.message}" for fault in faults[:SHOWN])
        more = f"; and {len(faults) - SHOWN} more" if len(faults) > SHOWN else ""
        super().__init__(f"The graph cannot be read. {told}{more}", fields=[fault.as_json() for fault in faults])
        self.faults = tuple(faults)
