from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from steps.base import StepContext, StepFailure, WaitFor
from steps.wait_until.spec import LONGEST_S, WaitUntilConfig

# The engine keeps moments in UTC, where a zone's first day of year 1 lies before all that Python can read again.
LONG_PAST = datetime(1970, 1, 1, tzinfo=UTC)


def run(config: WaitUntilConfig, ctx: StepContext) -> WaitFor:
    """The moment itself is kept: the database's clock decides when it has come, not this machine's."""
    moment = max(in_zone(config), LONG_PAST)
    left_s = max(0.0, (moment - datetime.now(UTC)).total_seconds())
    if left_s > LONGEST_S:
        raise StepFailure("moment_too_far", f"{moment.isoformat()} is more than 366 days away.")
    until = moment.isoformat()
    return WaitFor("timer", seconds=left_s, data={"until": until}, output={"until": until})


def in_zone(config: WaitUntilConfig) -> datetime:
    """In UTC. A time that the zone's clock shows twice counts as the first of both."""
    moment = config.moment
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=ZoneInfo(config.zone))
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        return LONG_PAST if moment.year == 1 else datetime.max.replace(tzinfo=UTC)
