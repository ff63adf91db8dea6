"""Which limits count a start, and whether there is room."""

from dataclasses import replace
from uuid import UUID

import pytest

from runs.core.limits import Bound, Candidate, bounds_of, first_full, key_bounds, names_of, room

W, F, R = UUID(int=1), UUID(int=2), UUID(int=3)
PLAIN = Candidate(
    step_run_id=1, run_id=R, queue="default", workspace_id=W, workflow_id=F, key=None, key_at_most=None,
    rate_starts=None, rate_per_s=None, run_key=None, run_at_most=None, has_begun=False,
)  # fmt: skip


def test_a_step_that_nothing_limits_has_no_bounds() -> None:
    assert bounds_of(PLAIN, {}) == []
    assert first_full([], []) is None
    assert room([], []) == 0


def test_what_an_installation_has_set_counts_the_lane_the_workspace_and_the_workflow() -> None:
    names = [f"queue:{PLAIN.queue}", f"workspace:{W}", f"workflow:{F}"]
    assert bounds_of(PLAIN, dict.fromkeys(names, 3)) == [Bound(name, 3) for name in names]


def test_a_run_that_has_begun_is_counted_already() -> None:
    begun = replace(PLAIN, has_begun=True, run_key="k", run_at_most=1)
    assert bounds_of(begun, {f"workflow:{F}": 1, f"workspace:{W}": 2}) == [Bound(f"workspace:{W}", 2)]


def test_a_runs_key_counts_runs() -> None:
    assert bounds_of(replace(PLAIN, run_key="k", run_at_most=2), {}) == [Bound(f"run:{W}:k", 2)]
    assert bounds_of(replace(PLAIN, run_key="k"), {}) == []


@pytest.mark.parametrize(
    ("limits", "bounds"),
    [
        ({"key_at_most": 2}, [Bound(f"key:{W}:k", 2)]),
        ({"rate_starts": 5, "rate_per_s": 60.0}, [Bound(f"key:{W}:k", 5, 60.0)]),
        (
            {"key_at_most": 2, "rate_starts": 5, "rate_per_s": 1.0},
            [Bound(f"key:{W}:k", 2), Bound(f"key:{W}:k", 5, 1.0)],
        ),
        ({"rate_starts": 5}, []),
        ({"rate_per_s": 1.0}, []),
    ],
)
def test_a_key_counts_what_runs_and_what_starts(limits: dict[str, float], bounds: list[Bound]) -> None:
    assert key_bounds(replace(PLAIN, key="k", **limits)) == bounds  # type: ignore[arg-type]


def test_a_key_without_numbers_limits_nothing() -> None:
    assert key_bounds(PLAIN) == []


def test_names_are_locked_once_each_in_one_order() -> None:
    assert names_of([Bound("b", 1), Bound("a", 1), Bound("b", 2, 1.0)]) == ["a", "b"]


def test_the_first_full_limit_is_told_and_room_is_the_least_of_all() -> None:
    bounds = [Bound("a", 3), Bound("b", 2)]
    assert first_full(bounds, [2, 1]) is None
    assert first_full(bounds, [2, 2]) == bounds[1]
    assert room(bounds, [1, 1]) == 1
    assert room(bounds, [1, 5]) == 0


def test_a_full_lane_or_workspace_is_passed_over_and_everything_else_waits_by_name() -> None:
    assert [Bound(f"{sort}:x", 1).holds for sort in ("queue", "workspace", "key", "workflow", "run")] == [
        False, False, True, True, True,
    ]  # fmt: skip
