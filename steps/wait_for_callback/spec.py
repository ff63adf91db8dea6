from collections.abc import Mapping
from typing import Any

from steps.base import Delivery, Field, StepConfig, StepSpec, widget
from steps.describe import setting
from steps.fields import connection_field

LONGEST_S = 366 * 24 * 3600


class WaitForCallbackConfig(StepConfig):
    title: str = Field(
        default="",
        title="What it waits for",
        description="For whoever looks at the run.",
        max_length=200,
        examples=["The bank's answer to payment {{ run.input.payment }}"],
    )
    deadline_s: float | None = Field(
        default=None,
        gt=0,
        le=LONGEST_S,
        title="Deadline",
        description="Seconds until the step fails without a callback. Empty: none.",
        json_schema_extra=widget("duration"),
    )
    notify_url: str = Field(
        default="",
        title="Tell this address",
        description="Where the step itself sends its link, by POST. Empty: an earlier step sends it, or a person does.",
        max_length=8192,
        examples=["https://bank.example/payments"],
    )
    connection: str | None = connection_field(default=None)
    notify_headers: dict[str, str] = Field(
        default_factory=dict,
        title="Headers to send",
        json_schema_extra=widget("key-values"),
    )
    notify_body: Any = Field(
        default=None,
        title="Body to send",
        description="JSON, with the link where the other side looks for it.",
        examples=[{"callback_url": "{{ run.callbacks.this_step }}"}],
        json_schema_extra=widget("json"),
    )


def delivery(config: Mapping[str, Any]) -> Delivery:
    return Delivery.KEYED if config.get("notify_url") else Delivery.PURE


SPEC = StepSpec(
    kind="wait_for_callback",
    title="Wait for callback",
    group="Outside",
    icon="webhook",
    summary="Waits until another program calls back, and goes on with what it sent.",
    config=WaitForCallbackConfig,
    delivery=Delivery.PURE,
    delivery_by=delivery,
    acts=True,
    body="steps.wait_for_callback.run:run",
    describe=lambda config: setting(config, "title") or setting(config, "notify_url"),
    has_callback=True,
    connection_kinds=("http",),
)
