"""Whether each trigger of a workflow would start runs of this draft. Nothing is started, and nothing is sent."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from builder.graph.model import Graph
from kit.errors import AppError
from runs.doctor.findings import Check, Finding
from runs.models import Trigger
from runs.triggers.selectors import upcoming_shapes
from runs.triggers.shapes import RunEndSettings, ScheduleSettings, Settings, WebhookSettings, checked
from runs.triggers.signature import digest, signed
from runs.triggers.webhook import Delivery, checked_sender, find_hook
from steps.base import StepFailure, StepSpec
from steps.schema_bounded import check_bounded

TEST_BODY = b'{"test": true}'


def of_triggers(triggers: Sequence[Trigger], graph: Graph, specs: Mapping[str, StepSpec]) -> Check:
    schema = input_schema_of(graph, specs)
    found = [of_trigger(trigger, schema) for trigger in triggers]
    nothing = Finding("ok", "Nothing starts it by itself: people and programs do.")
    return Check("triggers", "Triggers", tuple(found) or (nothing,))


def input_schema_of(graph: Graph, specs: Mapping[str, StepSpec]) -> Any:
    for node in graph.nodes:
        if node.parent is None and node.kind in specs and not specs[node.kind].has_input:
            return node.config.get("input_schema")
    return None


def of_trigger(trigger: Trigger, schema: Any) -> Finding:
    told = str(trigger.id)
    if not trigger.is_enabled:
        return Finding("ok", f"'{trigger.name}' is switched off.", trigger=told)
    try:
        return Finding("ok", _tried(trigger, checked(trigger.kind, json.loads(trigger.settings)), schema), trigger=told)
    except (AppError, StepFailure, WouldNotStart) as fault:
        return Finding("error", f"'{trigger.name}': {fault.message}", trigger=told)


class WouldNotStart(Exception):
    """A trigger's runs would be refused; a finding says so."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


def _tried(trigger: Trigger, settings: Settings, schema: Any) -> str:
    """What is well about it, in a sentence. Raises AppError, StepFailure or WouldNotStart, saying what is not."""
    if isinstance(settings, ScheduleSettings):
        check_fits(settings.input, schema)
        return f"'{trigger.name}' starts runs by the clock, and its input fits."
    if isinstance(settings, WebhookSettings):
        call_itself(trigger.path or "", settings)
        proof = "without proof of who it is" if settings.security == "none" else "once it has proved who it is"
        return f"'{trigger.name}' takes a test delivery, {proof}."
    assert isinstance(settings, RunEndSettings)
    if trigger.source is None or trigger.source.archived_at is not None:
        raise WouldNotStart("the workflow at whose end it starts is archived.")
    return f"'{trigger.name}' starts at the end of '{trigger.source.name}'."


def check_fits(value: Any, schema: Any) -> None:
    wanted = json.loads(schema) if isinstance(schema, str) else schema
    problems = check_bounded(value, dict(wanted)) if wanted else ()
    if problems:
        where = "input" + str(problems[0]["path"]).removeprefix("$")
        raise WouldNotStart(f"its input does not fit what the Start step asks for. {where}: {problems[0]['message']}")


def call_itself(path: str, settings: WebhookSettings) -> None:
    """A delivery as a sender makes it goes through the door's own checks, and is then let fall."""
    hook = find_hook(path)
    headers = {}
    if settings.security == "bearer":
        headers["authorization"] = f"Bearer {hook.secret}"
    elif settings.security == "hmac":
        at = int(hook.now.timestamp())
        plain = settings.signature == "body"
        proof = f"sha256={digest(hook.secret, TEST_BODY)}" if plain else signed(hook.secret, TEST_BODY, at=at)
        headers[settings.signature_header.lower()] = proof
    checked_sender(hook, Delivery(settings.methods[0], headers, "", TEST_BODY))


def of_schedules(triggers: Sequence[Trigger]) -> Check:
    """The next times of each schedule, those marked at which the zone's clock is changed."""
    schedules = [trigger for trigger in triggers if trigger.kind == "schedule" and trigger.is_enabled]
    found = tuple(of_schedule(trigger) for trigger in schedules)
    return Check("schedules", "Next firings", found or (Finding("ok", "No schedule is switched on."),))


def of_schedule(trigger: Trigger) -> Finding:
    told = str(trigger.id)
    try:
        settings = checked("schedule", json.loads(trigger.settings))
    except AppError as fault:
        return Finding("error", f"'{trigger.name}': {fault.message}", trigger=told)
    assert isinstance(settings, ScheduleSettings)
    upcoming = upcoming_shapes(settings.timing())
    if not upcoming:
        return Finding("warning", f"'{trigger.name}' is not due in the next forty years.", trigger=told)
    when = f"'{trigger.name}': {settings.cron} in {settings.zone}."
    if any(tick["clock"] for tick in upcoming):
        changed = f"{when} One of the next times falls into a change of the clock."
        return Finding("warning", changed, trigger=told, upcoming=upcoming)
    return Finding("ok", when, trigger=told, upcoming=upcoming)
