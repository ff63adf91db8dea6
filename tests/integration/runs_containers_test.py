"""Loops, tries and joins on the engine itself: rows, expressions, outputs."""

from typing import Any
from uuid import UUID

import pytest

from builder.graph.model import Policy
from runs.engine.resume import resume_run
from runs.models import StepRun
from tests.engine import World

pytestmark = pytest.mark.django_db(transaction=True)

KINDS = {"L": "loop", "T": "try_block", "E": "map", "X": "fail", "V": "set_fields"}
SEEN = {"value": {"previous": "{{ previous }}", "index": "{{ index }}"}}


def play(world: World, drawing: str, **options: Any) -> UUID:
    run_id = world.start(world.draw(drawing, kinds=KINDS, **options)).run_id
    world.work()
    assert world.broken() == []
    return run_id


def resume(world: World, run_id: UUID) -> None:
    with world.connection.transaction():
        resume_run(world.connection, world.command(run_id, "resume"))
    world.work()
    assert world.broken() == []


def test_a_loop_hands_each_round_what_the_round_before_gave(world: World) -> None:
    configs = {
        "L": {"most": 10, "first": 1, "until": "{{ previous >= 20 }}"},
        "A": {"value": "{{ previous * 2 + index }}"},
        "O": {"value": "{{ steps.L.output }}"},
    }
    run_id = play(world, "S > L[A] > O", configs=configs)
    assert world.run(run_id).status == "succeeded"
    assert [world.output(run_id, f"L[{index}].A") for index in range(4)] == [2, 5, 12, 27]
    assert world.output(run_id, "O") == 27
    assert StepRun.objects.get(run_id=run_id, path="L").item_total == 4


def test_a_loop_that_keeps_all_gives_a_list_and_ends_at_its_maximum(world: World) -> None:
    configs = {"L": {"most": 3, "keep": "all"}, "A": {"value": "{{ index }}"}, "O": {"value": "{{ steps.L.output }}"}}
    run_id = play(world, "S > L[A] > O", configs=configs)
    assert world.output(run_id, "O") == [0, 1, 2]


def test_a_condition_that_is_never_met_fails_the_loop_at_its_maximum(world: World) -> None:
    run_id = play(world, "S > L[A]", configs={"L": {"most": 3, "until": "{{ false }}"}, "A": {"value": 1}})
    assert world.run(run_id).status == "failed"
    error = StepRun.objects.get(run_id=run_id, path="L").error
    assert "maximum_reached" in (error or "")
    assert StepRun.objects.filter(run_id=run_id, parent__isnull=False).count() == 3


def test_a_condition_that_cannot_be_read_fails_the_loop_and_a_resume_asks_again(world: World) -> None:
    configs = {"L": {"most": 3, "until": "{{ previous.missing }}"}, "A": {"value": {}}}
    run_id = play(world, "S > L[A]", configs=configs)
    assert world.run(run_id).status == "failed"
    resume(world, run_id)
    assert world.statuses(run_id) == {"S": "succeeded", "L": "failed", "L[0].A": "succeeded"}
    assert StepRun.objects.get(run_id=run_id, path="L[0].A").attempt == 1


def test_a_loop_in_a_map_sees_the_item_of_the_map_and_its_own_rounds(world: World) -> None:
    configs = {
        "E": {"items": [10, 20]},
        "L": {"most": 5, "first": "{{ item }}", "until": "{{ index == 1 and previous > item }}"},
        "A": {"value": "{{ previous + item + index }}"},
        "O": {"value": "{{ steps.E.output }}"},
    }
    run_id = play(world, "S > E[L[A]] > O", configs=configs)
    assert world.output(run_id, "O") == [10 + 10 + 0 + 10 + 1, 20 + 20 + 0 + 20 + 1]


def test_a_map_in_a_try_in_a_loop_gives_its_list_to_the_next_round(world: World) -> None:
    configs = {
        "L": {"most": 2, "first": [1, 2]},
        "E": {"items": "{{ previous }}"},
        "A": {"value": "{{ item * 10 + index }}"},
        "O": {"value": "{{ steps.L.output }}"},
    }
    run_id = play(world, "S > L[T[E[A]]] > O", configs=configs)
    assert world.output(run_id, "L[1].T[0].E[1].A") == 211
    assert world.output(run_id, "O") == [100, 211]


def test_a_try_gives_the_error_of_what_failed_inside(world: World) -> None:
    configs = {"X": {"message": "No stock."}, "H": {"value": "{{ steps.T.output }}"}, "K": {"value": 1}}
    run_id = play(world, "S > T[A > X] > K, T ?failed> H", configs=configs)
    assert world.run(run_id).status == "succeeded"
    assert world.statuses(run_id)["K"] == "skipped"
    told = world.output(run_id, "H")
    assert (told["message"], told["path"]) == ("No stock.", "T[0].X")


def test_a_try_whose_steps_are_fine_gives_what_its_last_step_gave(world: World) -> None:
    configs = {"A": {"value": {"n": 5}}, "K": {"value": "{{ steps.T.output.n }}"}}
    run_id = play(world, "S > T[A] > K, T ?failed> H", configs=configs)
    assert (world.output(run_id, "K"), world.statuses(run_id)["H"]) == (5, "skipped")


def test_a_map_hands_out_groups_and_keeps_their_order(world: World) -> None:
    configs = {
        "E": {"items": [1, 2, 3, 4, 5], "batch": 2, "window": 1},
        "A": {"value": "{{ item | sum }}"},
        "O": {"value": "{{ steps.E.output }}"},
    }
    run_id = play(world, "S > E[A] > O", configs=configs)
    assert world.output(run_id, "O") == [3, 7, 5]


def test_items_that_failed_within_the_tolerance_are_null(world: World) -> None:
    configs = {
        "E": {"items": [1, 0, 2, 4], "tolerate_percent": 25},
        "A": {"value": "{{ 8 // item }}"},
        "O": {"value": "{{ steps.E.output }}"},
    }
    run_id = play(world, "S > E[A] > O", configs=configs)
    assert (world.run(run_id).status, world.output(run_id, "O")) == ("succeeded", [8, None, 4, 2])


def test_a_join_of_any_reads_null_of_what_is_not_there_yet(world: World) -> None:
    configs = {"D": {"seconds": 3600}, "A": {"value": 1}, "J": {"value": "{{ [steps.A.output, steps.D.output] }}"}}
    run_id = play(world, "S > A + D > J", configs=configs, policies={"J": Policy(join="any")})
    assert world.output(run_id, "J") == [1, None]
    assert (world.statuses(run_id)["D"], world.run(run_id).status) == ("waiting", "running")


def test_the_first_way_stops_the_timer_of_the_other(world: World) -> None:
    configs = {"D": {"seconds": 3600}, "A": {"value": 1}, "J": {"value": "{{ steps.A.output }}"}}
    run_id = play(world, "S > A + D > J", configs=configs, policies={"J": Policy(join="first")})
    assert (world.statuses(run_id)["D"], world.run(run_id).status) == ("cancelled", "succeeded")
