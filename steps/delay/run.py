from datetime import UTC, datetime

from steps.base import StepContext, StepFailure, WaitFor
from steps.delay.spec import LONGEST_S, DelayConfig

# The engine keeps moments in UTC, where a zone's first day of year 1 lies before all that Python can read again.
LONG_PAST = datetime(1970, 1, 1, tzinfo=UTC)


def run(config: DelayConfig, ctx: StepContext) -> WaitFor:
    if config.until is None:
        seconds = config.seconds or 0.0
        return WaitFor("timer", seconds=seconds, output={"seconds": seconds, "until": None})
    seconds = max(0.0, (config.until - datetime.now(UTC)).total_seconds())
    if seconds > LONGEST_S:
        raise StepFailure("delay_too_long", f"{config.until.isoformat()} is more than 366 days away.")
    until = config.until.isoformat()
    kept = max(config.until, LONG_PAST).isoformat()
    return WaitFor("timer", seconds=seconds, data={"until": kept}, output={"seconds": seconds, "until": until})
