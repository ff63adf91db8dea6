"""Which failures are the same one: the kind of the step, the error's code, and its message without what differs each
time. Pure.
"""

import re
from dataclasses import dataclass
from hashlib import sha256

READ = 500  # characters of a message; an error that quotes a whole document differs in what comes later
LONGEST = 300  # of a pattern

# In this order: what comes first may hold what comes later.
_DIFFERS = (
    (re.compile(r"\b[a-z][a-z0-9+.-]*://\S+?(?=[\s'\"<>)\],;]|[.:]?(?:\s|$))", re.IGNORECASE), "<url>"),
    (re.compile(r"\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+\b"), "<email>"),
    (re.compile(r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b", re.IGNORECASE), "<id>"),
    (re.compile(r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?)?\b"), "<time>"),
    (re.compile(r"(?<![\w<])(?:[a-z]:)?(?:[\\/][\w.~-]+)+[\\/]?", re.IGNORECASE), "<path>"),
    (re.compile(r"\b(?=[a-z_-]*\d)[\w-]*\d[\w-]*[a-z][\w-]*\b|\b[a-z_][\w-]*\d[\w-]*\b", re.IGNORECASE), "<id>"),
    (re.compile(r"[-+]?\b\d+(?:[.,:]\d+)*%?"), "<n>"),
)
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True)
class Cause:
    """How a step failed. `kind` is the step's; 'run' where the run itself failed, by its deadline."""

    kind: str
    code: str
    message: str


def pattern_of(message: str) -> str:
    """The message, with a word in the place of each number, id, time, address and path; its beginning."""
    text = message[:READ]
    for _ in range(10):  # a word that was put in may let the next thing begin: `0/a` is a number, and then a path
        before = text
        for differs, word in _DIFFERS:
            text = differs.sub(word, text)
        text = _SPACE.sub(" ", text).strip()
        if text == before:
            break
    return text[:LONGEST].rstrip()


def fingerprint_of(cause: Cause) -> str:
    """16 hexadecimal digits. Capitals make no difference."""
    text = "\0".join((cause.kind, cause.code, pattern_of(cause.message).casefold()))
    return sha256(text.encode("utf-8", "replace")).hexdigest()[:16]
