"""What can go wrong with triggers."""

from kit.errors import BadInput, Conflict, NotFound


class BadTrigger(BadInput):
    """`data.fields` names what is wrong with its settings."""

    code = "bad_trigger"


class TriggerNotFound(NotFound):
    code = "trigger_not_found"


class NotASchedule(Conflict):
    code = "not_a_schedule"


class BackfillTooLarge(BadInput):
    """`data.limit` says how many ticks one request may hold."""

    code = "backfill_too_large"
