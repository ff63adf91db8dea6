"""The library's kinds in a real warm child: expressions resolved, settings checked, body run, outcome back."""

import dataclasses
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from runs.runner.messages import Failed, Fans, Outcome, Succeeded, TimedOut, Waits
from sample.documents import make_documents
from tests.integration.steps_http.local_server import local_server, reply
from tests.runner import Bench, bench, job

SCOPE = {
    "run": {"id": "r", "number": 1, "input": {"n": 3, "lines": [{"amount": 2.5}, {"amount": 4}]}},
    "steps": {"fetch": {"output": {"total": 600, "name": "größe"}}},
}


@pytest.fixture(scope="module")
def child() -> Iterator[Bench]:
    with bench() as running:
        yield running


def run(child: Bench, kind: str, config: dict[str, Any], **changes: Any) -> Outcome:
    return child.run_job(dataclasses.replace(job(""), kind=kind, config=config, scope=SCOPE, **changes))


def output(outcome: Outcome) -> Any:
    assert isinstance(outcome, Succeeded), outcome
    return outcome.output


def test_an_expression_keeps_its_type_until_the_body(child: Bench) -> None:
    fields = {"total": "{{ steps.fetch.output.total }}", "text": "{{ steps.fetch.output.name }} x"}
    assert output(run(child, "set_fields", {"fields": fields})) == {"total": 600, "text": "größe x"}


def test_the_flow_leaves_by_the_port_that_the_condition_names(child: Bench) -> None:
    outcome = run(child, "branch", {"condition": "{{ steps.fetch.output.total > 500 }}"})
    assert (outcome.output, outcome.port) == (True, "true")  # type: ignore[union-attr]
    cases = [{"name": "big", "equals": 600}]
    assert run(child, "switch", {"value": "{{ steps.fetch.output.total }}", "cases": cases}).port == "big"  # type: ignore[union-attr]


def test_start_reads_the_runs_input(child: Bench) -> None:
    assert output(run(child, "start", {"input_schema": {"required": ["n"]}}))["n"] == 3
    outcome = run(child, "start", {"input_schema": {"required": ["batch"]}})
    assert isinstance(outcome, Failed)
    assert outcome.error.code == "bad_run_input"


def test_code_with_braces_is_taken_as_it_stands(child: Bench) -> None:
    code = "def main(inputs):\n    return {'braces': '{{ run.input.n }}', 'sum': sum(l['amount'] for l in inputs['l'])}"
    found = output(run(child, "python", {"code": code, "inputs": {"l": "{{ run.input.lines }}"}}))
    assert found == {"braces": "{{ run.input.n }}", "sum": 6.5}


def test_what_user_code_prints_is_in_the_steps_log(child: Bench) -> None:
    run(child, "python", {"code": "print('seen from inside')"})
    assert "seen from inside" in child.log


def test_the_steps_limit_ends_the_sandbox_too(child: Bench) -> None:
    started = time.monotonic()
    outcome = run(child, "python", {"code": "while True: pass"}, limit_s=1)
    assert isinstance(outcome, TimedOut)
    assert time.monotonic() - started < 4


def test_a_wait_and_a_fan_out_come_back_as_such(child: Bench) -> None:
    wait = run(child, "delay", {"seconds": "{{ run.input.n }}"})
    assert isinstance(wait, Waits)
    assert (wait.kind, wait.seconds) == ("timer", 3)
    assert isinstance(run(child, "approval", {"title": "Pay {{ run.input.n }}?"}), Waits)
    fans = run(child, "map", {"items": "{{ run.input.lines }}", "window": 2})
    assert isinstance(fans, Fans)
    assert (len(fans.items), fans.window) == (2, 2)


def test_settings_that_do_not_fit_after_evaluation_name_their_field(child: Bench) -> None:
    outcome = run(child, "map", {"items": "{{ run.input.n }}"})
    assert isinstance(outcome, Failed)
    assert outcome.error.code == "bad_config"
    assert "items" in outcome.error.message


def test_a_request_goes_out_only_where_the_job_allows_it(child: Bench, tmp_path: Path) -> None:
    with local_server(lambda handler, seen: reply(handler, 200, b"[1]", Content_Type="application/json")) as server:
        refused = run(child, "http_request", {"url": server.url()}, storage_root=str(tmp_path))
        assert isinstance(refused, Failed)
        assert refused.error.code == "outbound_refused"
        assert server.seen == []
        allowed = {"storage_root": str(tmp_path), "outbound_allow": [server.address]}
        assert output(run(child, "http_request", {"url": server.url("/{{ run.input.n }}")}, **allowed))["body"] == [1]
        assert server.seen[0].path == "/3"
        assert server.seen[0].headers["idempotency-key"] == "key"


def test_ocr_fits_into_a_childs_memory(child: Bench, tmp_path: Path) -> None:
    pytest.importorskip("rapidocr")
    make_documents(tmp_path)
    file = str(next(tmp_path.rglob("invoice-01.png")).relative_to(tmp_path))
    outcome = run(child, "ocr", {"files": file}, storage_root=str(tmp_path), limit_s=60)
    assert "Nordlicht" in output(outcome)["text"]
    assert [each.kind for each in child.checkpoints] == ["once"]


def test_the_ocr_engine_stays_in_its_child_for_the_next_page(child: Bench, tmp_path: Path) -> None:
    """Loading the models takes a second; a map of a thousand pages must not pay it a thousand times."""
    pytest.importorskip("rapidocr")
    make_documents(tmp_path)
    files = sorted(str(each.relative_to(tmp_path)) for each in tmp_path.rglob("invoice-0[13].p*"))
    pids = set()
    for file in files * 2:
        output(run(child, "ocr", {"files": file, "dpi": 110}, storage_root=str(tmp_path), limit_s=60))
        pids.add(tuple(child.child.pids))
    assert len(files) == 2
    assert len(pids) == 1
