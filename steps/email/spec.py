from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, model_validator

from steps.base import Delivery, Field, StepConfig, StepSpec, widget
from steps.describe import setting
from steps.fields import StoragePath, connection_field


def split(value: Any) -> Any:
    """'a@x, b@y' is a list too."""
    return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value


def _address(text: str) -> str:
    if any(sign in text for sign in "\r\n\0") or not 3 <= len(text) <= 320 or "@" not in text.strip("@"):
        raise ValueError(f"'{text[:80]}' is not an e-mail address")
    return text


def _one_line(text: str) -> str:
    """A line break in a header would let a value add headers of its own."""
    return " ".join(text.split())


Address = Annotated[str, AfterValidator(_address)]
Addresses = Annotated[list[Address], BeforeValidator(split), Field(max_length=100)]


class EmailConfig(StepConfig):
    connection: str = connection_field()
    to: Addresses = Field(
        title="To", description="One or more addresses.", examples=["ana@example.com, ben@example.com"]
    )
    cc: Addresses = Field(default_factory=list, title="Cc")
    bcc: Addresses = Field(default_factory=list, title="Bcc", description="Not shown to the others.")
    sender: Address | None = Field(default=None, title="From", description="Empty: the sender of the connection.")
    reply_to: Address | None = Field(default=None, title="Reply to")
    subject: Annotated[str, AfterValidator(_one_line)] = Field(title="Subject", max_length=500)
    text: str = Field(default="", title="Text", json_schema_extra=widget("textarea"))
    html: str = Field(
        default="",
        title="HTML",
        description="Instead of the text, or beside it.",
        json_schema_extra=widget("code", language="html"),
    )
    attachments: Annotated[list[StoragePath], BeforeValidator(split)] = Field(
        default_factory=list,
        title="Attachments",
        description="Files of the workspace's storage.",
        max_length=50,
        json_schema_extra=widget("file"),
    )
    timeout_s: float = Field(
        default=30.0, gt=0, le=600, title="Time limit", description="Seconds.", json_schema_extra=widget("duration")
    )

    @model_validator(mode="after")
    def _goes_to_someone(self) -> "EmailConfig":
        if not (self.to or self.cc or self.bcc):
            raise ValueError("an e-mail needs at least one address")
        return self


def describe(config: Mapping[str, Any]) -> str:
    subject = setting(config, "subject")
    return f"to {setting(config, 'to')}" + (f": {subject}" if subject else "")


SPEC = StepSpec(
    kind="email",
    title="E-mail",
    group="Outside",
    icon="mail",
    summary="Sends an e-mail, with files where wanted.",
    config=EmailConfig,
    delivery=Delivery.KEYED,
    acts=True,
    body="steps.email.run:run",
    describe=describe,
    output_schema=lambda config: {
        "type": "object",
        "properties": {
            "message_id": {"type": "string"},
            "accepted": {"type": "array", "items": {"type": "string"}},
            "refused": {"type": "object"},
        },
    },
    connection_kinds=("smtp",),
    default_limit_s=660.0,
)
