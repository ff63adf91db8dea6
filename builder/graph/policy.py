"""What the numbers and words of a policy may be. A rule answers what is wrong with a value, or None."""

import re
from collections.abc import Callable, Mapping
from typing import Any

Rule = Callable[[Any], str | None]
DAY_S = 86_400
KEY = re.compile(r"\S(.{0,98}\S)?")
CODE = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,99}")
MOST_CODES = 50
LONGEST_EXPRESSION = 2_000
QUEUE = re.compile(r"[a-z][a-z0-9_-]{0,62}")


def number(low: float, high: float, *, unit: str = "", whole: bool = False, above: bool = False) -> Rule:
    """A number from `low` (not itself, if `above`) to `high`. A bool is no number."""
    sort = "a whole number" if whole else "a number"
    border = f"above {low}" if above else f"from {low}"
    message = f"must be {sort} {border} to {high}{unit and ' ' + unit}"
    types = (int,) if whole else (int, float)

    def rule(value: Any) -> str | None:
        good = type(value) in types and low <= value <= high and not (above and value == low)
        return None if good else message

    return rule


def choice(*words: str) -> Rule:
    def rule(value: Any) -> str | None:
        return None if type(value) is str and value in words else f"must be one of: {', '.join(words)}"

    return rule


def optional(inner: Rule) -> Rule:
    def rule(value: Any) -> str | None:
        return None if value is None else inner(value)

    return rule


def anything(value: Any) -> str | None:
    return None


def queue_name(value: Any) -> str | None:
    good = type(value) is str and QUEUE.fullmatch(value)
    return None if good else "must be a queue's name: lower-case letters, digits, - and _, at most 63, a letter first"


def limit_key(value: Any) -> str | None:
    good = type(value) is str and value.isprintable() and KEY.fullmatch(value)
    return None if good else "must be a limit's key: 1 to 100 printable characters, no space at either end"


def flag(value: Any) -> str | None:
    return None if type(value) is bool else "must be true or false"


def codes(value: Any) -> str | None:
    """Of errors that are tried again: a list of codes, or of `*` for any."""
    good = type(value) is list and 0 < len(value) <= MOST_CODES and all(map(_is_code, value))
    return None if good else f"must be a list of 1 to {MOST_CODES} error codes, or of * for any"


def _is_code(value: Any) -> bool:
    return type(value) is str and (value == "*" or CODE.fullmatch(value) is not None)


def expression_text(value: Any) -> str | None:
    good = type(value) is str and 0 < len(value) <= LONGEST_EXPRESSION
    return None if good else f"must be an expression, of at most {LONGEST_EXPRESSION} characters"


LIMIT = number(0, 30 * DAY_S, unit="seconds (30 days)", above=True)
RETRY_RULES: Mapping[str, Rule] = {
    "attempts": number(1, 100, whole=True),
    "first_delay_s": number(0, DAY_S, unit="seconds (a day)"),
    "factor": number(1, 100),
    "max_delay_s": number(0, 7 * DAY_S, unit="seconds (7 days)"),
    "jitter": number(0, 1),
    "on": optional(codes),
}
POLICY_RULES: Mapping[str, Rule] = {
    "limit_s": optional(LIMIT),
    "idle_limit_s": optional(LIMIT),
    "queue_limit_s": optional(LIMIT),
    "total_limit_s": optional(LIMIT),
    "skip_if": optional(expression_text),
    "on_error": choice("fail", "fallback", "port"),
    "fallback": anything,
    "on_upstream_failure": choice("skip", "wait", "default", "fail"),
    "default": anything,
    "join": choice("all", "any", "first", "count"),
    "join_count": optional(number(1, 1_000, whole=True)),
    "queue": queue_name,
    "limit_key": optional(limit_key),
    "limit_at_most": optional(number(1, 100_000, whole=True)),
    "rate_starts": optional(number(1, 100_000, whole=True)),
    "rate_per_s": optional(number(0, DAY_S, unit="seconds (a day)", above=True)),
    "delivery": optional(choice("at_most_once")),
    "reuse": optional(choice("run", "workflow", "workspace")),
    "reuse_for_s": optional(number(0, 366 * DAY_S, unit="seconds (366 days)", above=True)),
    "reuse_effects": flag,
}
