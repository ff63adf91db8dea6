"""What an alert says, in a mail and in a request."""

from datetime import UTC, datetime
from typing import Any

import pytest

from runs.alerts import letter as letters
from runs.alerts.letter import Letter, Told

AT = datetime(2026, 3, 1, 2, 0, tzinfo=UTC)
RUN = {"run": {"id": "r1", "number": 1042}, "workflow": {"id": "f1", "name": "Invoices"}}
FAILED = Told("failed", {**RUN, "step": "compliance", "code": "http_503", "message": "It says\n503"}, AT)
QUESTION = Told("question", {**RUN, "wait": "q1", "kind": "approval", "step": "ask", "message": "Pay?"}, AT)
LANE = Told("no_worker", {"lane": "gpu", "steps": 1, "heard_at": None}, AT)


def tick(status: str, code: str | None = None) -> Told:
    trigger = {"id": "t1", "name": "Nightly", "kind": "schedule"}
    data = {"trigger": trigger, "workflow": {"id": "f1", "name": "Invoices"}, "status": status, "code": code}
    return Told("silent", data, AT)


def letter(*facts: Told, counts: dict[str, int] | None = None, is_test: bool = False) -> Letter:
    return Letter(
        "d1", "On failure", "Acme", "acme", "https://pawl.example", facts,
        counts or letters.count([fact.kind for fact in facts]), is_test,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("fact", "told", "link"),
    [
        (FAILED, "Run 1042 of Invoices failed at 'compliance': http_503", "runs/r1"),
        (Told("failed", RUN, AT), "Run 1042 of Invoices failed", "runs/r1"),
        (Told("deadline", RUN, AT), "Run 1042 of Invoices passed its deadline", "runs/r1"),
        (QUESTION, "Run 1042 of Invoices asks: Pay?", "inbox?wait=q1"),
        (tick("missed"), "The schedule 'Nightly' of Invoices was due and did not start", "workflows/f1/triggers"),
        (tick("failed", "bad_run_input"), "'Nightly' could not start Invoices: bad_run_input", "workflows/f1/triggers"),
        (LANE, "No worker serves the lane 'gpu': 1 step waits", "overview"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_each_fact_is_a_sentence_with_a_link_to_where_it_is_seen(fact: Told, told: str, link: str) -> None:
    assert letters.sentence(fact) == told
    assert letters.link(letter(fact), fact) == f"https://pawl.example/w/acme/{link}"
    assert told in letters.text(letter(fact))
    assert letters.subject(letter(fact)) == f"[Acme] {told}"


def test_a_thousand_failures_are_one_mail_that_shows_twenty_of_them_and_counts_the_rest() -> None:
    many = letter(*[FAILED] * 100, counts={"failed": 1_000, "no_worker": 1})
    assert letters.subject(many) == "[Acme] 1,000 runs failed, 1 lane has no worker"
    assert letters.text(many).count("Run 1042") == 20
    assert "And 981 more: https://pawl.example/w/acme/overview" in letters.text(many)
    assert (len(letters.body(many)["facts"]), letters.body(many)["more"]) == (100, 901)


def test_the_error_s_message_stands_on_one_line_and_no_name_breaks_a_header() -> None:
    assert "    It says 503\n" in letters.text(letter(FAILED))
    data: dict[str, Any] = {**RUN, "workflow": {"id": "f1", "name": "In\r\nBcc: x@example.com"}}
    assert "\n" not in letters.subject(letter(Told("failed", data, AT)))


def test_a_test_says_that_nothing_happened() -> None:
    test = letter(is_test=True)
    assert letters.subject(test) == "[Acme] Test of the alert 'On failure'"
    assert "Nothing happened" in letters.text(test)
    assert letters.body(test)["test"] is True


def test_a_request_says_what_happened_as_values() -> None:
    (fact,) = letters.body(letter(FAILED))["facts"]
    assert fact == {**FAILED.data, "kind": "failed", "at": AT.isoformat(), "url": "https://pawl.example/w/acme/runs/r1"}
