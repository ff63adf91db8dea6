"""What can be wrong with a graph that can be read."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from builder.validation.fixes import Fix

Severity = Literal["error", "warning", "hint"]

CODES: Mapping[str, Severity] = {
    # nodes and containers
    "bad_key": "error",
    "duplicate_id": "error",
    "duplicate_key": "error",
    "unknown_kind": "error",
    "parent_unknown": "error",
    "parent_cycle": "error",
    "not_a_container": "error",
    "nested_too_deeply": "error",
    "container_empty": "error",
    # edges and the way through
    "duplicate_edge": "error",
    "edge_unknown_node": "error",
    "edge_unknown_port": "error",
    "edge_crosses_container": "error",
    "self_loop": "error",
    "cycle": "error",
    "no_start": "error",
    "several_starts": "error",
    "start_disabled": "error",
    "start_has_input": "error",
    "start_in_container": "error",
    "unreachable": "error",
    # settings
    "required_field_missing": "error",
    "bad_field": "error",
    "unknown_field": "error",
    "condition_is_text": "error",
    "connection_unknown": "error",
    "connection_kind": "error",
    "calls_itself": "error",
    "workflow_unknown": "error",
    "workflow_not_live": "warning",
    # expressions
    "bad_expression": "error",
    "unknown_name": "error",
    "item_outside_container": "error",
    "reference_unknown": "error",
    "reference_not_upstream": "error",
    "reference_dynamic": "error",
    "reference_not_output": "error",
    "callback_unknown": "error",
    # policies
    "error_port_unused": "warning",
    "skip_if_constant": "error",
    "fallback_missing": "warning",
    "default_missing": "warning",
    "join_count_missing": "error",
    "join_count_too_high": "error",
    "limit_key_missing": "error",
    "limit_missing": "warning",
    "rate_incomplete": "error",
    "reuse_impossible": "error",
    "reuse_of_effects": "error",
    # lints: nothing is wrong, and something may be better
    "unused_output": "hint",
    "duplicate_step": "hint",
    "duplicate_effect": "warning",
    "effect_without_idempotency": "warning",
    "only_joins_text": "hint",
    "map_without_limit": "hint",
}


@dataclass(frozen=True)
class Problem:
    """`node` and `edge` are ids, `field` a path in the node's config (`body.lines[0]`) or a field of the node's own."""

    code: str
    message: str  # what is wrong, where, and what to do
    node: str | None = None
    field: str | None = None
    edge: str | None = None
    fix: Fix | None = None  # where one click can mend it

    @property
    def severity(self) -> Severity:
        """An error keeps a draft from being published; warnings are told, hints are ideas."""
        return CODES[self.code]

    def as_json(self) -> dict[str, Any]:
        places = {"node": self.node, "field": self.field, "edge": self.edge}
        named = {name: value for name, value in places.items() if value is not None}
        mend = {"fix": self.fix.as_json()} if self.fix else {}
        return {"code": self.code, "severity": self.severity, "message": self.message, **named, **mend}
