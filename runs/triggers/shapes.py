"""A trigger's settings, one shape a kind. What comes in is checked here; what is kept is their JSON text."""

import json
from collections.abc import Mapping
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from runs.core.firings import Misfire, Overlap
from runs.core.ticks import BadSchedule, Cron, read_cron
from runs.payloads import json_text
from runs.triggers.errors import BadTrigger
from runs.triggers.mapping import DEFAULT, BadMapping, check_mapping
from runs.triggers.signature import Scheme, Security


class Settings(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ScheduleSettings(Settings):
    cron: Annotated[str, Field(max_length=200)]
    zone: str = "UTC"
    input: Any = None  # of each run
    overlap: Overlap = Overlap.QUEUE
    misfire: Misfire = Misfire.RUN_ONCE
    misfire_limit: Annotated[int, Field(ge=1, le=100)] = 10  # of misfire = all

    def timing(self) -> Cron:
        """Raises BadSchedule."""
        return read_cron(self.cron, self.zone)


# Never kept with a run: they are, or sign, what proves who somebody is.
SECRET_HEADERS = frozenset({"authorization", "cookie", "proxy-authorization", "x-csrftoken"})
HEADERS = ("content-type", "user-agent")  # kept always
Header = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9-]{0,63}$")]


class WebhookSettings(Settings):
    methods: Annotated[list[Literal["GET", "POST", "PUT", "PATCH", "DELETE"]], Field(min_length=1, max_length=5)] = [
        "POST"
    ]
    security: Security = "hmac"
    signature: Scheme = "timestamped"
    signature_header: Header = "X-Pawl-Signature"
    tolerance_s: Annotated[int, Field(ge=10, le=3600)] = 300  # how old a signature may be
    input: Literal["request", "body"] = "request"  # what a run starts with: all of it, or what the body says alone
    answer: Literal["at_once", "when_done"] = "at_once"
    wait_s: Annotated[int, Field(ge=1, le=60)] = 10  # of answer = when_done
    max_bytes: Annotated[int, Field(ge=0, le=1024 * 1024)] = 256 * 1024
    headers: Annotated[list[Header], Field(max_length=50)] = []  # that each run gets to see, besides HEADERS
    delivery_header: Header = "X-Delivery-Id"  # whose value names a delivery, so that a replay is known
    per_minute: Annotated[int, Field(ge=1, le=100_000)] | None = 600

    @field_validator("delivery_header")
    @classmethod
    def name_no_secret(cls, name: str) -> str:
        """Its value goes into the ledger and the run's input."""
        return cls.hold_no_secret([name])[0]

    @field_validator("headers")
    @classmethod
    def hold_no_secret(cls, names: list[str]) -> list[str]:
        for name in names:
            if name.lower() in SECRET_HEADERS:
                raise ValueError(f"'{name}' proves who somebody is, and is never kept with a run")
        return names


class RunEndSettings(Settings):
    source: UUID  # the workflow whose runs end
    on: Annotated[list[Literal["succeeded", "failed", "cancelled"]], Field(min_length=1, max_length=3)] = ["succeeded"]
    input: Any = Field(default_factory=lambda: dict(DEFAULT))  # with paths into the run that ended


KINDS: Mapping[str, type[Settings]] = {
    "schedule": ScheduleSettings,
    "webhook": WebhookSettings,
    "run_end": RunEndSettings,
}


def checked(kind: str, values: Mapping[str, Any]) -> Settings:
    """Raises BadTrigger, naming each wrong field."""
    try:
        found = KINDS[kind].model_validate(dict(values))
        if isinstance(found, ScheduleSettings):
            found.timing()
        if isinstance(found, RunEndSettings):
            check_mapping(found.input)
    except ValidationError as error:
        fields = [
            {"field": ".".join(["settings", *map(str, one["loc"])]), "message": one["msg"]} for one in error.errors()
        ]
        raise BadTrigger(f"{fields[0]['field']}: {fields[0]['message']}", fields=fields) from error
    except BadMapping as error:
        raise BadTrigger(error.message, fields=[{"field": "settings.input", "message": error.message}]) from error
    except BadSchedule as error:
        fields = [{**one, "field": f"settings.{one['field']}"} for one in error.data["fields"]]
        raise BadTrigger(error.message, fields=fields) from error
    return found


def dumped(settings: Settings) -> dict[str, Any]:
    """As JSON values. `input` goes as it is: any JSON value comes back equal, and pydantic refuses half characters."""
    return settings.model_dump(mode="json", exclude={"input"}) | settings.model_dump(include={"input"})


def text_of(settings: Settings) -> str:
    return json_text(dumped(settings))


def schedule_of(text: str) -> ScheduleSettings:
    return ScheduleSettings.model_validate(json.loads(text))


def webhook_of(text: str) -> WebhookSettings:
    return WebhookSettings.model_validate(json.loads(text))


def run_end_of(text: str) -> RunEndSettings:
    return RunEndSettings.model_validate(json.loads(text))
