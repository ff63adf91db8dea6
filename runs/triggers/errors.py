"""What can go wrong with triggers."""

from kit.errors import AppError, BadInput, Conflict, NotFound, Unavailable


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


class BackfillTooOld(BadInput):
    """`data.oldest` is the first moment of which the ledger still knows."""

    code = "backfill_too_old"


class WebhookNotFound(NotFound):
    code = "webhook_not_found"


class DeliveryReused(Conflict):
    code = "delivery_reused"


class TooManyFields(BadInput):
    """`data.limit` says how many fields a query or a form may have."""

    code = "too_many_fields"


class WebhookBusy(AppError):
    """`wait` is sent as Retry-After, in seconds."""

    code = "webhook_busy"
    status = 429

    def __init__(self, message: str, *, wait: int) -> None:
        super().__init__(message, retry_after_s=wait)
        self.wait = wait


class WebhookNotReady(Unavailable):
    code = "webhook_not_ready"


class NotAWebhook(Conflict):
    code = "not_a_webhook"
