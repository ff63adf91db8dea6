from collections.abc import Mapping
from typing import Any

from steps.base import Delivery, Field, StepConfig, StepSpec, literal, widget
from steps.describe import setting
from steps.fields import connection_field


class SqlConfig(StepConfig):
    connection: str = connection_field()
    statement: str = Field(
        title="Statement",
        description="One statement. Values come in by name only (:batch), never as text. "
        ":idempotency_key is always there.",
        min_length=1,
        max_length=100_000,
        examples=["SELECT id, name FROM supplier WHERE vat_number = :vat"],
        json_schema_extra=literal(widget="code", language="sql"),
    )
    parameters: dict[str, Any] = Field(
        default_factory=dict,
        title="Parameters",
        description="Values for the names in the statement.",
        examples=[{"vat": "{{ item.vat_number }}"}],
        json_schema_extra=widget("key-values"),
    )
    read_only: bool = Field(default=True, title="Read only", description="The database refuses every change.")
    repeatable: bool = Field(
        default=False,
        title="May run twice",
        description="For a statement that changes data: a repeat does no harm (ON CONFLICT, a key, a plain SET). "
        "Otherwise it is never restarted by itself once it may have begun.",
        json_schema_extra=widget("switch", when={"read_only": [False]}),
    )
    row_limit: int = Field(default=1000, ge=1, le=100_000, title="Row limit", description="More rows fail the step.")
    timeout_s: float = Field(
        default=30.0, gt=0, le=3600, title="Time limit", description="Seconds.", json_schema_extra=widget("duration")
    )


def delivery(config: Mapping[str, Any]) -> Delivery:
    if config.get("read_only", True) is True:
        return Delivery.PURE
    return Delivery.KEYED if config.get("repeatable", False) is True else Delivery.AT_MOST_ONCE


SPEC = StepSpec(
    kind="sql",
    title="SQL",
    group="Outside",
    icon="database",
    summary="Asks or changes a PostgreSQL or SQLite database.",
    config=SqlConfig,
    delivery=Delivery.AT_MOST_ONCE,
    delivery_by=delivery,
    acts_by=lambda config: config.get("read_only", True) is False,
    body="steps.sql.run:run",
    describe=lambda config: setting(config, "statement"),
    output_schema=lambda config: {
        "type": "object",
        "properties": {
            "rows": {"type": "array", "items": {"type": "object"}},
            "columns": {"type": "array", "items": {"type": "string"}},
            "count": {"type": "integer"},
        },
    },
    connection_kinds=("sql",),
    default_limit_s=3660.0,
)
