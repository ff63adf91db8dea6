"""What a body gives, and what the worker gets of it. Real processes, no database."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from runs.runner.messages import Crashed, Failed, Fans, Succeeded, Waits
from tests.runner import Bench, bench


@pytest.fixture(scope="module")
def _shared() -> Iterator[Bench]:
    with bench(memory_limit_bytes=512 * 1024**2) as made:
        yield made


@pytest.fixture
def runner(_shared: Bench) -> Bench:
    """One child for all tests here, with empty ears."""
    return Bench(_shared.child)


def _failed(outcome: Any) -> Failed:
    assert isinstance(outcome, Failed), outcome
    return outcome


# ------------------------------------------------------------------ values

VALUES = [
    None, True, 0, -0.0, 2**63 - 1, 2**63, -(2**64), 10**400, 1.7976931348623157e308, 5e-324, 0.1, "", "\0", "a\0b",
    "\ud800", "\udfff\ud800", "\U0001f600", "\u2028 </script>", [], {}, {"": {"": [""]}}, [[], {}, [[]]],
    {"\0": "\ud800", "ключ": "значение"}, '{"looks": "like JSON"}', "NaN",
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES, ids=lambda value: ascii(value)[:30])
def test_every_json_value_comes_back_equal(runner: Bench, value: Any) -> None:
    outcome = runner.run("echo", value)
    assert isinstance(outcome, Succeeded)
    assert repr(outcome.output) == repr(value)  # repr: 1 == True and 0.0 == -0.0
    assert outcome.port == "out"
    assert outcome.input == {"value": value}


def test_two_hundred_levels_come_back(runner: Bench) -> None:
    value: list[Any] = []
    for _ in range(198):  # the value itself lies in the config
        value = [value]
    assert runner.run("echo", value) == Succeeded(value, "out", {"value": value})


@pytest.mark.parametrize(
    ("name", "path", "why"),
    [
        ("nan", "output.rows[1].total", "nan"),
        ("infinity", "output[0]", "-inf"),
        ("number_key", "output.table", "key 1"),
        ("none_key", "output", "key None"),
        ("set", "output.tags", "set"),
        ("bytes", "output.file", "bytes"),
        ("object", "output[0]", "object"),
        ("deep", "output" + "[0]" * 200, "deeper than 200"),
        ("circle", "output" + "[1]" * 199 + "[1]", "deeper than 200"),
        ("huge_number", "output[0]", "4300 digits"),
        ("function", "output", "builtin_function_or_method"),
    ],
)
def test_what_is_no_json_is_refused_with_its_path(runner: Bench, name: str, path: str, why: str) -> None:
    error = _failed(runner.run("odd_output", name)).error
    assert error.code == "not_json"
    assert error.data == {"path": path}
    assert why in error.message
    assert not error.retryable


def test_an_output_over_the_limit_is_refused_with_both_sizes(runner: Bench) -> None:
    value = {"character": "x", "count": 50_000_000}
    error = _failed(runner.run("big_output", value)).error
    assert (error.code, error.retryable) == ("output_too_large", False)
    assert error.data == {"size_bytes": 50_000_002, "limit_bytes": 16 * 1024 * 1024}
    assert "50,000,002" in error.message


@pytest.mark.parametrize("character", ["x", "é", "漢", "😀", "\0"])
def test_an_output_just_below_its_limit_passes_whatever_its_characters(runner: Bench, character: str) -> None:
    size = len(json.dumps(character * 1000, ensure_ascii=False).encode())
    value = {"character": character, "count": 1000}
    assert isinstance(runner.run("big_output", value, output_limit_bytes=size), Succeeded)
    assert _failed(runner.run("big_output", value, output_limit_bytes=size - 1)).error.code == "output_too_large"


def test_a_large_output_below_the_limit_arrives_whole(runner: Bench) -> None:
    outcome = runner.run("big_output", {"character": "ab", "count": 5_000_000})
    assert isinstance(outcome, Succeeded)
    assert outcome.output == "ab" * 5_000_000


# ------------------------------------------------------------------ answers


def test_a_named_port_is_told(runner: Bench) -> None:
    assert runner.run("port", "left") == Succeeded("through", "left", {"value": "left"})


def test_a_port_that_the_kind_does_not_have_is_a_failure(runner: Bench) -> None:
    error = _failed(runner.run("port", "middle")).error
    assert error.code == "bad_port"
    assert "left, right" in error.message


def test_a_timer_and_an_approval_wait(runner: Bench) -> None:
    assert runner.run("timer", 2.5) == Waits("timer", 2.5, {}, {"slept": True}, {"value": 2.5})
    assert runner.run("approval", "ok?") == Waits("approval", None, {"question": "ok?"}, None, {"value": "ok?"})


def test_a_wait_into_the_past_is_a_failure(runner: Bench) -> None:
    assert _failed(runner.run("timer", -1)).error.code == "bad_wait"


def test_a_container_fans_out(runner: Bench) -> None:
    assert runner.run("fan_out", [1, [2], {}]) == Fans([1, [2], {}], 3, "continue", {"value": [1, [2], {}]})


def test_the_context_tells_what_the_attempt_is(runner: Bench) -> None:
    outcome = runner.run("told_context", attempt=3, fence=77, outbound_allow=["b:1", "a:2"], path="each[3].x")
    assert isinstance(outcome, Succeeded)
    assert outcome.output == {
        "run_id": "01900000-0000-7000-8000-000000000000", "path": "each[3].x", "attempt": 3, "fence": 77, "key": "key",
        "storage": "/storage", "allow": ["a:2", "b:1"], "partials": [],
    }  # fmt: skip


# ------------------------------------------------------------------ failures


def test_a_wrong_config_names_its_fields_and_not_their_values(runner: Bench) -> None:
    error = _failed(runner.run("number", config={"number": "hidden", "more": 1})).error
    assert error.code == "bad_config"
    assert [each["field"] for each in error.data["fields"]] == ["number", "more"]
    assert "hidden" not in repr(error)
    assert not error.retryable


def test_an_unknown_kind_is_a_failure_that_names_it(runner: Bench) -> None:
    error = _failed(runner.run("nothing_like_this")).error
    assert (error.code, error.data) == ("unknown_kind", {"kind": "test_nothing_like_this"})


def test_a_body_s_own_failure_passes_as_it_stands(runner: Bench) -> None:
    error = _failed(runner.run("failure")).error
    assert (error.code, error.message, error.retryable, error.retry_after_s) == ("busy", "try later", True, 7.5)
    assert error.data == {"status": 429}


def test_details_that_are_no_json_do_not_hide_the_failure(runner: Bench) -> None:
    error = _failed(runner.run("failure_with_odd_data")).error
    assert (error.code, error.data) == ("odd", {})


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("raises", "KeyError: 'missing'"),
        ("raises_unreadable", "Unreadable: (its text cannot be read)"),
        ("exits", "SystemExit: 3"),
        ("interrupts", "KeyboardInterrupt"),
    ],
)
def test_whatever_a_body_raises_is_the_step_s_failure_and_the_child_goes_on(
    runner: Bench, kind: str, message: str
) -> None:
    runner.child.warm()
    before = runner.child.pids
    error = _failed(runner.run(kind)).error
    assert (error.code, error.message, error.retryable) == ("body_raised", message, True)
    assert "tests/kinds.py" in error.data["traceback"]
    assert "runs/runner" not in error.data["traceback"]
    assert runner.child.pids == before


@pytest.mark.parametrize(
    ("kind", "detail"),
    [
        ("exits_hard", "exit code 3"),
        ("segfault", "SIGSEGV (segmentation fault)"),
        ("kill_self", "SIGKILL (maybe out of memory)"),
    ],
)
def test_a_child_that_dies_is_a_crash_that_says_how_and_the_next_job_runs(
    runner: Bench, kind: str, detail: str
) -> None:
    outcome = runner.run(kind)
    assert isinstance(outcome, Crashed)
    assert detail in outcome.detail
    assert runner.run("echo", 1) == Succeeded(1, "out", {"value": 1})


def test_a_segmentation_fault_leaves_its_place_in_the_log(runner: Bench) -> None:
    runner.run("segfault")
    assert "Segmentation fault" in runner.log
    assert "tests/kinds.py" in runner.log


def test_a_memory_hog_fails_by_itself_and_the_next_job_gets_a_fresh_child(runner: Bench) -> None:
    before = runner.child.pids
    error = _failed(runner.run("hog_memory")).error
    assert (error.code, error.retryable) == ("out_of_memory", True)
    assert isinstance(runner.run("echo", 1), Succeeded)
    assert runner.child.pids != before


# ------------------------------------------------------------------ checkpoints, progress, folder


def test_a_kept_result_is_not_made_again_by_the_next_attempt(runner: Bench, tmp_path: Path) -> None:
    made = tmp_path / "made"
    first = _failed(runner.run("work_in_steps", str(made)))
    assert first.error.code == "not_yet"
    kept = list(runner.checkpoints)
    assert [(each.kind, each.key, each.value) for each in kept] == [
        ("once", "a", ["a", 1]),
        ("once", "b", ["b", 1]),
        ("partial", "1", {"rows": 2}),
    ]
    second = runner.run("work_in_steps", str(made), attempt=2, fence=6, checkpoints=kept)
    assert isinstance(second, Succeeded)
    assert second.output == [["a", 1], ["b", 1], ["c", 1], [{"rows": 2}]]
    assert made.read_text() == "abc"
    assert runner.checkpoints[-2].key == "2"  # partials are numbered through all attempts


def test_a_checkpoint_that_the_worker_refuses_ends_the_attempt(runner: Bench, tmp_path: Path) -> None:
    from tests.runner import job

    class Refused(Exception):
        pass

    def refuse(kind: str, key: str, value: Any) -> None:
        raise Refused

    made = tmp_path / "made"
    with pytest.raises(Refused):
        runner.child.run(
            job("work_in_steps", str(made)),
            on_checkpoint=refuse,
            on_log=runner.logs.append,
            on_progress=lambda done, total, text: None,
            on_cursor=lambda name, position: None,
            should_stop=lambda: False,
        )
    assert made.read_text() == "a"  # 'b' waited for the acknowledgement of 'a', and never began
    assert runner.child.pids == []


def test_progress_is_told_but_not_too_often(runner: Bench) -> None:
    runner.run("progress", 10_000)
    assert runner.progress[-1] == (10_000, 10_000, "row 10000")
    assert len(runner.progress) < 50


def test_the_work_folder_is_gone_after_the_attempt(runner: Bench) -> None:
    outcome = runner.run("workdir")
    assert isinstance(outcome, Succeeded)
    assert not Path(outcome.output).exists()


def test_a_forked_process_may_not_use_the_step_context(runner: Bench) -> None:
    outcome = runner.run("fork_and_tell")
    assert isinstance(outcome, Succeeded)
    assert outcome.output == 9
    assert runner.checkpoints == []


def test_a_body_that_comes_back_twice_is_answered_once(runner: Bench) -> None:
    assert isinstance(runner.run("fork_and_return"), Succeeded)
    assert runner.run("echo", "next") == Succeeded("next", "out", {"value": "next"})


# ------------------------------------------------------------------ logs


def test_what_a_body_and_its_programs_print_is_the_log_in_order(runner: Bench) -> None:
    runner.run("print_texts", ["one", "nul\0", "lone \ud800", "é"])
    assert runner.log == "one\nnul\N{SYMBOL FOR NULL}\nlone \\ud800\né\nfrom below\n"


def test_logs_of_two_attempts_do_not_mix(runner: Bench) -> None:
    runner.run("print_texts", ["first"])
    second = Bench(runner.child)
    second.run("print_texts", ["second"])
    assert "first" in runner.log
    assert second.log == "second\nfrom below\n"


def test_a_log_over_its_limit_is_cut_and_says_so_and_the_body_goes_on(runner: Bench) -> None:
    outcome = runner.run("print_much", 100_000, log_limit_bytes=10_000)  # 100 MB
    assert isinstance(outcome, Succeeded)
    assert outcome.output == "printed"
    text, marker = runner.log.split("\n[")
    assert len(text) == 10_000
    assert "limit of 10,000 bytes" in marker
    after = Bench(runner.child)
    after.run("print_texts", ["next"])
    assert after.log == "next\nfrom below\n"
