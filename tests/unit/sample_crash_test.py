"""What the crash demo says of a run, told by rows that are made here: each difference must be noticed."""

import json
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from sample.crash.compare import (
    RunFacts,
    StepFacts,
    arrival_differences,
    attempts_of,
    launch_differences,
    recovery_s,
    repeated_launches,
    wrong_attempts,
)
from sample.crash.launches import Launch, LaunchLog
from sample.crash.report import expected_payments, findings, summary, table, wrong_payments
from sample.graphs import INVOICE_STEPS

START = datetime(2026, 3, 20, 12, 0, tzinfo=UTC)
BROKE_AT = START.timestamp() + 8
HEADER = "invoice_number,supplier,vat_id,po_number,invoice_date,currency,net,vat,total"


def step(path: str, second: float, *, attempts: int = 1, waits: int = 0) -> StepFacts:
    moment = START + timedelta(seconds=second)
    return StepFacts(
        path=path, attempts=attempts, status="succeeded", key=f"key:{path}", waits=waits,
        started_at=moment.isoformat(), finished_at=moment.isoformat(), succeeded_at=moment + timedelta(seconds=0.5),
        succeeded_attempt=attempts,
    )  # fmt: skip


def launch(path: str, second: float, attempt: int = 1) -> Launch:
    return Launch("r1", path, attempt, 4242, START.timestamp() + second)


def healthy() -> RunFacts:
    """Step n begins in second n and ends half a second later; step 8 is killed and begins again in second 9."""
    steps, launches = [], []
    for second, top in enumerate(INVOICE_STEPS, start=1):
        crashed = top == "compliance"
        steps.append(step(top, second + crashed, attempts=2 if crashed else 1, waits=1 if top == "review" else 0))
        launches.append(launch(top, second))
        if crashed:
            launches.append(launch(top, second + 1, attempt=2))
    for item in range(2):
        for node in ("download", "read", "extract"):
            steps.append(step(f"ocr_documents[{item}].{node}", 3))
            launches.append(launch(f"ocr_documents[{item}].{node}", 3))
    return RunFacts("r1", "succeeded", steps, launches, BROKE_AT)


def payments() -> str:
    rows = [",".join((number, *row.values())) for number, row in expected_payments().items()]
    return "\n".join([HEADER, *rows]) + "\n"


def arrivals(facts: RunFacts) -> dict[str, int]:
    nodes = {"fetch", "download", "compliance", "upload", "notify"}
    return {each.key: each.attempts for each in facts.steps if each.node in nodes}


def test_a_run_that_went_as_it_should_has_no_findings() -> None:
    facts = healthy()
    assert findings(facts, payments()) == []
    assert list(arrival_differences(facts.steps, arrivals(facts))) == []
    assert summary(facts) == {
        "status": "succeeded",
        "attempts": {str(number): 2 if number == 8 else 1 for number in range(1, 13)},
        "repeated_finished_steps": 0,
        "recovery_s": 1.0,
    }
    json.dumps(summary(facts))


def test_a_finished_step_that_begins_again_is_counted_as_repeated() -> None:
    facts = healthy()
    facts.launches = [*facts.launches, launch("fetch", 9, attempt=2)]
    assert [each.path for each in repeated_launches(facts)] == ["fetch"]
    assert any("fetch began again" in finding for finding in findings(facts, payments()))


def test_a_second_line_of_the_same_attempt_after_its_success_is_repeated_too() -> None:
    facts = healthy()
    facts.launches = [*facts.launches, launch("ocr_documents[1].read", 9)]
    assert [each.path for each in repeated_launches(facts)] == ["ocr_documents[1].read"]


def test_a_line_seen_a_little_late_is_not_taken_for_a_repeat() -> None:
    facts = healthy()
    facts.launches = [replace(each, seen_at=each.seen_at + 0.6) for each in facts.launches]
    assert repeated_launches(facts) == []


def test_lines_and_attempts_must_agree_both_ways() -> None:
    facts = healthy()
    facts.launches = [each for each in facts.launches if each.path != "upload"] + [launch("nowhere", 5)]
    differences = list(launch_differences(facts))
    assert len(differences) == 2
    assert differences[0].startswith("upload: 1 attempts")
    assert differences[1].startswith("nowhere: 1 lines")


def test_a_kind_that_only_computes_needs_no_line() -> None:
    facts = healthy()
    facts.steps = [*facts.steps, replace(step("output", 13), has_body=False)]
    assert list(launch_differences(facts)) == []


@pytest.mark.parametrize("count", [0, 2])
def test_a_mail_that_came_never_or_twice_is_noticed(count: int) -> None:
    facts = healthy()
    [difference] = arrival_differences(facts.steps, {**arrivals(facts), "key:notify": count})
    assert difference.startswith("notify: 1 attempts")


def test_an_arrival_with_a_key_that_no_step_has_is_noticed() -> None:
    facts = healthy()
    [difference] = arrival_differences(facts.steps, {**arrivals(facts), "stranger": 1})
    assert "'stranger'" in difference


def test_a_map_counts_its_worst_item_and_a_review_its_waits() -> None:
    facts = healthy()
    facts.steps = [
        replace(each, attempts=3) if each.path == "ocr_documents[1].read" else replace(each, waits=each.waits * 2)
        for each in facts.steps
    ]
    assert (attempts_of(facts, "ocr_documents"), attempts_of(facts, "review")) == (3, 2)
    assert len(list(wrong_attempts(facts, INVOICE_STEPS))) == 2


def test_without_a_second_attempt_there_is_no_recovery() -> None:
    facts = healthy()
    facts.launches = [each for each in facts.launches if each.attempt == 1]
    assert recovery_s(facts) is None
    assert any("no second attempt" in finding for finding in findings(facts, payments()))


def test_a_wrong_amount_and_a_missing_invoice_in_the_uploaded_file_are_noticed() -> None:
    assert list(wrong_payments(payments())) == []
    assert any("NP-20417" in each for each in wrong_payments(payments().replace("625.23", "625.32")))
    assert any("should have" in each for each in wrong_payments(HEADER))


def test_the_table_tells_what_was_reused() -> None:
    lines = table(healthy()).splitlines()
    assert [line.split()[-1] for line in lines[1:]] == ["reused"] * 7 + ["run"] * 5


def test_the_launch_log_gives_each_whole_line_once_with_the_time_it_came(tmp_path: Path) -> None:
    file = tmp_path / "launches.log"
    log = LaunchLog(file)
    before = time.time()
    with file.open("a") as stream:
        stream.write("r1 fetch 1 3 77\nr1 par")
        stream.flush()
        deadline = time.monotonic() + 5
        while not log.of("r1") and time.monotonic() < deadline:
            time.sleep(0.005)
        stream.write("se 1 4 78\nr2 fetch 1 3 79\n")
    while not log.find("r1", "parse", attempt=1) and time.monotonic() < deadline:
        time.sleep(0.005)
    log.stop()
    assert [(each.path, each.pid) for each in log.of("r1")] == [("fetch", 77), ("parse", 78)]
    assert before <= log.of("r1")[0].seen_at <= time.time()
