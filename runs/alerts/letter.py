"""What a delivery says: a mail's subject and text, a request's body. Pure; facts are as they are kept (facts.py)."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

SHOWN = 20  # facts of a mail, the newest; the others are counted
SENT = 100  # facts of a request

WORDS = {  # of one, of several
    "failed": ("run failed", "runs failed"),
    "deadline": ("run passed its deadline", "runs passed their deadlines"),
    "silent": ("start that was due did not happen", "starts that were due did not happen"),
    "no_worker": ("lane has no worker", "lanes have no worker"),
    "question": ("question waits for an answer", "questions wait for an answer"),
}


@dataclass(frozen=True)
class Told:
    """A fact as it is told."""

    kind: str
    data: Mapping[str, Any]
    at: datetime


@dataclass(frozen=True)
class Letter:
    """All that a delivery tells. `counts` is of all its facts, `facts` holds the newest of them."""

    delivery: str
    rule: str
    workspace: str  # its name
    slug: str
    base: str  # what links begin with
    facts: Sequence[Told]
    counts: Mapping[str, int]
    is_test: bool = False


def count(kinds: Sequence[str]) -> dict[str, int]:
    found = Counter(kinds)
    return {kind: found[kind] for kind in WORDS if found[kind]}


def subject(letter: Letter) -> str:
    if letter.is_test:
        return f"[{letter.workspace}] Test of the alert '{letter.rule}'"
    if sum(letter.counts.values()) == 1 and letter.facts:
        return f"[{letter.workspace}] {sentence(letter.facts[0])}"
    told = [f"{number:,} {WORDS[kind][number != 1]}" for kind, number in letter.counts.items()]
    return f"[{letter.workspace}] {', '.join(told)}"


def text(letter: Letter) -> str:
    if letter.is_test:
        lines = [f"This is a test of the alert '{letter.rule}' of the workspace {letter.workspace}.", ""]
        return "\n".join([*lines, "Nothing happened. An alert would look like this mail.", "", _footer(letter)])
    lines = []
    for fact in letter.facts[:SHOWN]:
        lines += [f"{fact.at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC  {sentence(fact)}"]
        if fact.data.get("message") and fact.kind != "question":
            lines += [f"    {_one_line(fact.data['message'])}"]
        lines += [f"    {link(letter, fact)}", ""]
    more = sum(letter.counts.values()) - len(letter.facts[:SHOWN])
    if more > 0:
        lines += [f"And {more:,} more: {letter.base}/w/{letter.slug}/overview", ""]
    return "\n".join([*lines, _footer(letter)])


def _footer(letter: Letter) -> str:
    return (
        f"-- \nThe alert '{letter.rule}' of {letter.workspace} sent this. "
        f"Change it: {letter.base}/w/{letter.slug}/alerts"
    )


def sentence(fact: Told) -> str:
    """A fact in one line. Names are people's own words: no line break of theirs gets into a header."""
    data = fact.data
    workflow = _one_line((data.get("workflow") or {}).get("name") or "")
    run = f"Run {(data.get('run') or {}).get('number')} of {workflow}"
    at_step = f" at '{data['step']}'" if data.get("step") else ""
    if fact.kind == "failed":
        return f"{run} failed{at_step}" + (f": {data['code']}" if data.get("code") else "")
    if fact.kind == "deadline":
        return f"{run} passed its deadline"
    if fact.kind == "question":
        return f"{run} asks: {_one_line(data.get('message') or data.get('step') or 'a question')}"
    if fact.kind == "no_worker":
        return f"No worker serves the lane '{data['lane']}': {_steps(data['steps'])}"
    return _of_trigger(data, workflow)


def _of_trigger(data: Mapping[str, Any], workflow: str) -> str:
    name = _one_line(data["trigger"]["name"])
    if data["status"] == "failed":
        return f"'{name}' could not start {workflow}: {data.get('code') or 'unknown'}"
    return f"The schedule '{name}' of {workflow} was due and did not start"


def _steps(number: int) -> str:
    return "1 step waits" if number == 1 else f"{number:,} steps wait"


def link(letter: Letter, fact: Told) -> str:
    """Where a person sees it. Opening it does nothing: whoever answers a question does so there."""
    place, data = f"{letter.base}/w/{letter.slug}", fact.data
    if fact.kind == "question":
        return f"{place}/inbox?wait={data['wait']}"
    if fact.kind == "silent":
        return f"{place}/workflows/{data['workflow']['id']}/triggers"
    if fact.kind == "no_worker":
        return f"{place}/overview"
    return f"{place}/runs/{data['run']['id']}"


def body(letter: Letter) -> dict[str, Any]:
    """What a request carries, as JSON values."""
    facts = letter.facts[:SENT]
    total = sum(letter.counts.values())
    return {
        "id": letter.delivery,
        "alert": letter.rule,
        "workspace": {"slug": letter.slug, "name": letter.workspace},
        "test": letter.is_test,
        "summary": subject(letter),
        "counts": dict(letter.counts),
        "facts": [
            {"kind": fact.kind, "at": fact.at.astimezone(UTC).isoformat(), "url": link(letter, fact), **fact.data}
            for fact in facts
        ],
        "more": max(0, total - len(facts)),
    }


def _one_line(given: str) -> str:
    return " ".join(str(given).split())
