"""How long to wait before the next attempt."""

from builder.graph.model import Retry

CRASH_BUDGET = 3  # crashes of one step between two resumes; the user's retries are not touched by them
CRASH_DELAYS_S = (0.0, 1.0, 5.0)
LONGEST_RETRY_AFTER_S = 366 * 86_400.0  # whatever a body says: the moment must still be one that can be kept


def is_tried_again(retry: Retry, *, code: str, retryable: bool) -> bool:
    """Whether a failure is one that the policy tries again, as long as attempts are left."""
    return retryable if retry.on is None else "*" in retry.on or code in retry.on


def retry_delay_s(retry: Retry, tries: int, *, jitter: float, retry_after_s: float | None = None) -> float:
    """Seconds before the attempt after `tries` failed ones. `jitter` in [0, 1) takes away up to the policy's part.

    What the outside asked for (Retry-After) is not undercut, up to a year.
    """
    delay = min(retry.max_delay_s, retry.first_delay_s * retry.factor ** min(tries - 1, 64))
    return max(delay * (1 - jitter * retry.jitter), min(retry_after_s or 0.0, LONGEST_RETRY_AFTER_S))


def crash_delay_s(crash_count: int) -> float:
    """The first crash is tried again at once, the next ones later: a poisonous step must not take every worker."""
    return CRASH_DELAYS_S[min(crash_count, len(CRASH_DELAYS_S)) - 1]
