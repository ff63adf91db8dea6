"""The kinds that wait for people, for programs, and for moments."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from steps.base import StepFailure, WaitFor
from steps.registry import get
from teams.models import Role
from tests.step_context import FakeContext, run_step


@pytest.fixture
def ctx(tmp_path: Path) -> FakeContext:
    return FakeContext(storage_root=tmp_path)


FORM = {"type": "object", "required": ["street"], "properties": {"street": {"type": "string"}}}


def test_a_form_shows_its_schema_and_what_is_filled_in_beforehand(ctx: FakeContext) -> None:
    answer = run_step(ctx, "form", title="Where?", form=FORM, initial={"street": "Main"}, roles=["admin"])
    assert answer.kind == "form"
    assert answer.seconds is None
    assert answer.data == {
        "title": "Where?", "message": "", "schema": FORM, "initial": {"street": "Main"}, "roles": ["admin"],
        "no_self_approval": False,
    }  # fmt: skip


def test_a_form_that_cannot_be_used_fails_before_anybody_waits_for_it(ctx: FakeContext) -> None:
    for form in ({"type": "text"}, {"$ref": "https://example.com/elsewhere.json"}):
        with pytest.raises(StepFailure) as problem:
            run_step(ctx, "form", title="Where?", form=form)
        assert problem.value.code == "bad_schema"


def test_a_forms_output_is_described_by_its_schema() -> None:
    assert get("form").output_schema({"form": FORM}) == FORM
    assert get("form").output_schema({"form": "unfinished"}) == {}


def test_who_may_answer_is_one_of_the_roles_that_can(ctx: FakeContext) -> None:
    for kind, more in (("form", {"form": FORM}), ("approval", {})):
        with pytest.raises(ValidationError):
            run_step(ctx, kind, title="Where?", roles=["viewer"], **more)
        run_step(ctx, kind, title="Where?", roles=[role.value for role in Role if role is not Role.VIEWER], **more)


def test_wait_for_callback_waits_as_long_as_it_is_told(ctx: FakeContext) -> None:
    answer = run_step(ctx, "wait_for_callback", title="The bank", deadline_s=60)
    assert answer == WaitFor("callback", seconds=60, data={"title": "The bank", "told": ""})


def until(ctx: FakeContext, moment: Any, **config: Any) -> Any:
    return run_step(ctx, "wait_until", moment=moment, **config).data["until"]


def test_wait_until_takes_a_moment_with_its_zone_or_by_the_clock_of_one(ctx: FakeContext) -> None:
    soon = datetime.now(UTC).replace(microsecond=0) + timedelta(days=1)
    assert until(ctx, soon.isoformat()) == soon.isoformat()
    assert until(ctx, soon.replace(tzinfo=None).isoformat()) == soon.isoformat()
    tokyo = (soon + timedelta(hours=9)).replace(tzinfo=None)
    assert until(ctx, tokyo.isoformat(), zone="Asia/Tokyo") == soon.isoformat()


def test_wait_until_reckons_with_clocks_that_are_changed(ctx: FakeContext) -> None:
    """Berlin, 2026: 02:30 comes twice on 25 October, and not at all on 29 March."""
    assert until(ctx, "2026-10-25T02:30:00", zone="Europe/Berlin") == "2026-10-25T00:30:00+00:00"
    assert until(ctx, "2026-03-29T02:30:00", zone="Europe/Berlin") == "2026-03-29T01:30:00+00:00"


def test_wait_until_leaves_it_to_the_database_whether_the_moment_has_come(ctx: FakeContext) -> None:
    answer = run_step(ctx, "wait_until", moment="2001-01-01T00:00:00Z")
    assert answer == WaitFor(
        "timer", seconds=0, data={"until": "2001-01-01T00:00:00+00:00"}, output={"until": "2001-01-01T00:00:00+00:00"}
    )


@pytest.mark.parametrize("moment", ["0001-01-01T00:00:00+14:00", "0001-01-01T00:00:00"])
def test_wait_until_names_no_moment_that_the_database_cannot_give_back(ctx: FakeContext, moment: str) -> None:
    assert until(ctx, moment, zone="Asia/Tokyo") == "1970-01-01T00:00:00+00:00"


@pytest.mark.parametrize("moment", ["2999-01-01T00:00:00Z", "9999-12-31T23:59:59-12:00"])
def test_wait_until_refuses_a_moment_that_is_years_away(ctx: FakeContext, moment: str) -> None:
    with pytest.raises(StepFailure) as problem:
        run_step(ctx, "wait_until", moment=moment)
    assert problem.value.code == "moment_too_far"


@pytest.mark.parametrize(("moment", "zone"), [("soon", "UTC"), ("2026-01-31T12:00:00", "Mars/Olympus"), (None, "UTC")])
def test_wait_until_refuses_what_names_no_moment(ctx: FakeContext, moment: Any, zone: str) -> None:
    with pytest.raises(ValidationError):
        run_step(ctx, "wait_until", moment=moment, zone=zone)
