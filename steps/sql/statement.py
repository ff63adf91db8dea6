"""Finds the names in a statement (:name), past strings, quoted names, comments and casts. Values are never put in."""

import re
from dataclasses import dataclass

from steps.base import StepFailure

_PARTS = re.compile(
    r"""
    (?P<quoted> (?<!\w)[eE]'(?:[^'\\]|\\.|'')*' | '(?:[^']|'')*' | "(?:[^"]|"")*" | `[^`]*`
      | --[^\n]* | \$(?P<tag>[A-Za-z_]\w*|)\$.*?\$(?P=tag)\$ | ::|:= )
    | (?P<comment> /\*)
    | (?<![\w\]):]):(?P<name>[A-Za-z_]\w*)
    | (?P<number> (?<![\w$])\$\d+)
    | (?P<end> ;)
    """,
    re.VERBOSE | re.DOTALL,
)
_COMMENT = re.compile(r"/\*|\*/")


@dataclass(frozen=True)
class Statement:
    numbered: str  # with $1, $2, ... as PostgreSQL wants it
    named: str  # as it was written
    names: tuple[str, ...]  # in the order of the numbers


def parse(text: str) -> Statement:
    """Raises StepFailure('bad_statement') for several statements in one, or parameters by number."""
    names: dict[str, int] = {}
    pieces: list[str] = []
    at = 0
    while found := _PARTS.search(text, at):
        pieces.append(text[at : found.start()])
        at = found.end()
        if found["comment"]:
            at = _end_of_comment(text, at)
        elif found["name"]:
            pieces.append(f"${names.setdefault(found['name'], len(names) + 1)}")
            continue
        elif found["number"]:
            raise StepFailure("bad_statement", f"Write a name (:batch) instead of {found['number']}.")
        elif found["end"]:
            _expect_nothing(text[at:])
            at = len(text)
            continue
        pieces.append(text[found.start() : at])
    pieces.append(text[at:])
    return Statement("".join(pieces), text, tuple(names))


def _end_of_comment(text: str, at: int) -> int:
    """PostgreSQL's comments nest."""
    depth = 1
    while depth:
        found = _COMMENT.search(text, at)
        if found is None:
            raise StepFailure("bad_statement", "A comment in the statement has no end.")
        depth += 1 if found.group() == "/*" else -1
        at = found.end()
    return at


def _expect_nothing(rest: str) -> None:
    """After the closing ';' only blanks, comments and further ';' may come."""
    at = 0
    while at < len(rest):
        if rest.startswith("--", at):
            line_end = rest.find("\n", at)
            at = len(rest) if line_end < 0 else line_end
        elif rest.startswith("/*", at):
            at = _end_of_comment(rest, at + 2)
        elif rest[at].isspace() or rest[at] == ";":
            at += 1
        else:
            raise StepFailure("bad_statement", "One step runs one statement. Put the next one in a step of its own.")
