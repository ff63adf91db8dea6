"""A trigger's settings, one shape a kind. What comes in is checked here; what is kept is their JSON text."""

import json
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from runs.core.firings import Misfire, Overlap
from runs.core.ticks import BadSchedule, Cron, read_cron
from runs.payloads import json_text
from runs.triggers.errors import BadTrigger


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


KINDS: Mapping[str, type[Settings]] = {"schedule": ScheduleSettings}
Kind = Literal["schedule"]


def checked(kind: str, values: Mapping[str, Any]) -> Settings:
    """Raises BadTrigger, naming each wrong field."""
    try:
        found = KINDS[kind].model_validate(dict(values))
        if isinstance(found, ScheduleSettings):
            found.timing()
    except ValidationError as error:
        fields = [
            {"field": ".".join(["settings", *map(str, one["loc"])]), "message": one["msg"]} for one in error.errors()
        ]
        raise BadTrigger(f"{fields[0]['field']}: {fields[0]['message']}", fields=fields) from error
    except BadSchedule as error:
        fields = [{**one, "field": f"settings.{one['field']}"} for one in error.data["fields"]]
        raise BadTrigger(error.message, fields=fields) from error
    return found


def text_of(settings: Settings) -> str:
    return json_text(settings.model_dump(mode="json"))


def schedule_of(text: str) -> ScheduleSettings:
    return ScheduleSettings.model_validate(json.loads(text))
