"""Time, where it is not the database's. No transition of a run depends on anything here (promise P5)."""

import time


def monotonic_s() -> float:
    """Seconds on a clock that never goes back; for measuring durations and limits inside one process."""
    return time.monotonic()
