"""`pawl` in the sandbox: what the code keeps is what the step keeps, checked and bounded on our side of the pipe."""

import json
from pathlib import Path
from typing import Any

import pytest

from steps.base import PreviousAttempt, StepFailure
from steps.python import keeping
from tests.step_context import FakeContext, run_step

FORGED = "import os, sys, json\ndef say(m): os.write(int(sys.argv[1]), json.dumps(m).encode() + b'\\n')\n"


@pytest.fixture
def ctx(tmp_path: Path) -> FakeContext:
    return FakeContext(storage_root=tmp_path)


def run(ctx: FakeContext, code: str, **config: Any) -> Any:
    return run_step(ctx, "python", code=code, **{"time_limit_s": 20, **config})


def failure_of(ctx: FakeContext, code: str, **config: Any) -> StepFailure:
    with pytest.raises(StepFailure) as failure:
        run(ctx, code, **config)
    return failure.value


LOOP = """
def main(inputs):
    at = pawl.cursor(start=0)
    first = at.value
    for number in range(first, inputs["count"]):
        if number == inputs.get("dies_at") and pawl.attempt == 1:
            fail("it broke", retryable=True)
        at.move(number + 1)
    return [first, at.value, pawl.attempt]
"""


def test_a_loop_goes_on_where_the_attempt_before_stood(ctx: FakeContext) -> None:
    failure = failure_of(ctx, LOOP, inputs={"count": 1000, "dies_at": 640})
    assert failure.message.startswith("it broke")
    assert run(ctx.next_attempt(), LOOP, inputs={"count": 1000}) == [640, 1000, 2]


def test_what_is_kept_once_is_made_once(ctx: FakeContext) -> None:
    code = """
made = []
def main(inputs):
    first = pawl.once("a", lambda: made.append(1) or {"n": [1, None, "größe\\ud800"]})
    return [first, pawl.once("a", lambda: made.append(2)), pawl.once("none", lambda: None), made]
"""
    kept = {"n": [1, None, "größe\ud800"]}
    assert run(ctx, code) == [kept, kept, None, [1]]
    assert run(ctx.next_attempt(), code) == [kept, kept, None, []]
    assert ctx.kept == {"a": kept, "none": None}


def test_partial_results_and_progress_are_shown_and_the_next_attempt_reads_them(ctx: FakeContext) -> None:
    code = "pawl.partial({'row': len(pawl.partials)})\npawl.progress(1, 2, 'half')\nresult = pawl.partials"
    assert run(ctx, code) == [{"row": 0}]
    assert ctx.progressed == [(1.0, 2.0, "half")]
    assert run(ctx.next_attempt(), code) == [{"row": 0}, {"row": 1}]


def test_the_code_hears_how_the_attempt_before_ended(ctx: FakeContext) -> None:
    code = "result = [pawl.attempt, pawl.previous, pawl.idempotency_key]"
    assert run(ctx, code) == [1, None, ctx.idempotency_key]
    later = ctx.next_attempt()
    later.previous = PreviousAttempt(1, "lost", {"code": "crashed", "message": "It died."}, {}, [], {})
    told = {"number": 1, "outcome": "lost", "error": {"code": "crashed", "message": "It died."}}
    assert run(later, code) == [2, told, later.idempotency_key]


def test_a_file_is_made_without_any_file_in_the_sandbox(ctx: FakeContext) -> None:
    code = """
note = pawl.artifact('../a/note.txt', 'größe', 'text/plain')
result = [note['name'], pawl.artifact('raw', bytes([0, 255]))['size']]
"""
    assert run(ctx, code) == ["note.txt", 2]
    assert ctx.artifacts == {"note.txt": "größe".encode(), "raw": b"\0\xff"}


def test_standard_input_is_at_its_end_for_the_code(ctx: FakeContext) -> None:
    """The answers to its questions come by a pipe of their own."""
    assert run(ctx, "import sys\nresult = [sys.stdin.read(), pawl.cursor('a', 7).value]") == ["", 7]


def test_threads_may_ask_at_once(ctx: FakeContext) -> None:
    code = """
import threading
def keep(n): heard[n] = pawl.once(str(n), lambda: n * "x")
heard = {}
threads = [threading.Thread(target=keep, args=(n,)) for n in range(8)]
for each in threads: each.start()
for each in threads: each.join()
result = [heard[n] == n * "x" for n in range(8)]
"""
    assert run(ctx, code, memory_mb=2048) == [True] * 8  # each thread's stack counts


# ------------------------------------------------------------------ limits


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("pawl.once('a', lambda: 'x' * 2_000_000)", "A kept value has"),
        ("for n in range(30): pawl.partial('x' * 900_000)", "16 MB together"),
        ("for n in range(200): pawl.cursor(str(n))", "at most 100 cursors"),
        ("for n in range(200): pawl.artifact(str(n), 'x')", "at most 100 files"),
        ("pawl.artifact('a', b'x' * 17_000_000)", "of 16 MB each"),
    ],
)
def test_what_an_attempt_keeps_is_bounded(ctx: FakeContext, code: str, words: str) -> None:
    failure = failure_of(ctx, code)
    assert (failure.code, failure.retryable) == ("kept_too_much", False)
    assert words in failure.message


def test_the_number_of_kept_values_is_bounded(ctx: FakeContext, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeping, "MOST_KEPT", 5)
    code = "for n in range(6): pawl.once(str(n), lambda: n)"
    assert failure_of(ctx, code).code == "kept_too_much"
    assert list(ctx.kept) == list("01234")


@pytest.mark.parametrize(
    "code", ["pawl.once('a', lambda: {1})", "pawl.partial(float('nan'))", "pawl.cursor().move(b'')"]
)
def test_what_json_cannot_hold_is_refused_with_its_place(ctx: FakeContext, code: str) -> None:
    failure = failure_of(ctx, code)
    assert failure.code == "result_not_json"
    assert failure.message.startswith("pawl.")
    assert (ctx.kept, ctx.partials) == ({}, [])


def test_a_refusal_can_be_caught_like_any_error(ctx: FakeContext) -> None:
    code = "try: pawl.once('a', lambda: 'x' * 2_000_000)\nexcept Exception as problem: result = problem.code"
    assert run(ctx, code) == "kept_too_much"


# ------------------------------------------------------------------ the pipe, in the hands of code that means harm


@pytest.mark.parametrize(
    "message",
    [
        {"ask": "secret"}, {"ask": ["kept"]}, {"ask": None}, {"ask": "move", "name": "never asked for", "value": 1},
        {"ask": "move", "name": 7}, {"ask": "progress", "done": "x", "text": ""},
        {"ask": "progress", "done": True, "text": ""}, {"ask": "progress", "done": 1, "total": [], "text": ""},
    ],
)  # fmt: skip
def test_a_forged_question_ends_the_step_and_nothing_else(ctx: FakeContext, message: Any) -> None:
    failure = failure_of(ctx, f"{FORGED}say({message!r})\nimport time; time.sleep(10)")
    assert failure.code == "python_error"
    assert "own pipe" in failure.message


@pytest.mark.parametrize(
    "message",
    [{"ask": "keep"}, {"ask": "kept", "key": 1}, {"ask": "cursor"}, {"ask": "artifact", "name": "a", "data": "%"}],
)
def test_a_question_with_wrong_parts_is_refused(ctx: FakeContext, message: Any) -> None:
    code = f"say({message!r})\nresult = json.loads(pawl._line._answers.readline())['refused']['code']"
    assert run(ctx, FORGED + code) == "python_error"


RUBBISH = ["b'no json\\n'", "b'[1]\\n'", 'b\'{"ask": "partial"}\'', "b'x' * 100", "b'[' * 100_000 + b'\\n'"]


@pytest.mark.parametrize("line", RUBBISH)
def test_rubbish_on_the_pipe_ends_the_step(ctx: FakeContext, line: str) -> None:
    failure = failure_of(ctx, f"import os, sys\nos.write(int(sys.argv[1]), {line})\nos._exit(0)")
    assert failure.code == "python_error"


def test_a_line_without_end_fills_no_memory(ctx: FakeContext, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("steps.python.run.LINE_LIMIT_BYTES", 100_000)
    assert (
        failure_of(ctx, "import os, sys\nwhile True: os.write(int(sys.argv[1]), b'x' * 60_000)").code == "python_error"
    )


def test_only_one_result_counts(ctx: FakeContext) -> None:
    failure = failure_of(ctx, f"{FORGED}say({{'result': 1}})\nresult = 2")
    assert failure.code == "python_error"


def test_a_thread_that_asks_after_the_result_is_refused_and_holds_nothing_up(ctx: FakeContext) -> None:
    code = """
import threading, time
def late():
    time.sleep(0.3)
    pawl.progress(1)
    pawl.once('late', lambda: 1)
threading.Thread(target=late).start()
result = 1
"""
    assert run(ctx, code) == 1
    assert (ctx.kept, ctx.progressed) == ({}, [])


def test_a_hundred_thousand_positions_take_no_time(ctx: FakeContext) -> None:
    code = "at = pawl.cursor()\nfor n in range(100_000): at.move(n)\nresult = at.value"
    assert run(ctx, code) == 99_999
    assert ctx.cursors["position"].value == 99_999


def test_nothing_is_asked_of_the_step_for_code_that_asks_nothing(ctx: FakeContext) -> None:
    assert run(ctx, "result = 1") == 1
    assert (ctx.kept, ctx.partials, ctx.cursors, ctx.acts, ctx.artifacts) == ({}, [], {}, {}, {})
    assert json.dumps(ctx.progressed) == "[]"
