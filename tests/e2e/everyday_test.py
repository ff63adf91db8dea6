"""What people do all day: answer questions, stop a run, edit, and edit at once in two tabs."""

import re

import pytest
from playwright.sync_api import expect

from tests.e2e.api import Api, Row, edge, node
from tests.e2e.outside import LONG_INTEGER
from tests.e2e.pages import Canvas, Pawl

pytestmark = [pytest.mark.browser, pytest.mark.timeout(180)]


@pytest.fixture(scope="module")
def asking(api: Api) -> str:
    return api.draw(
        "Asks a person",
        nodes=[
            node("start"),
            node("approval", config={"title": "Pay {{ run.input.to }}?"}, at=(260, 0)),
            node("output", key="paid", config={"value": "paid"}, at=(520, -80)),
            node("output", key="refused", config={"value": "refused"}, at=(520, 80)),
        ],
        edges=[
            edge("start", "approval"),
            edge("approval", "paid", port="approved"),
            edge("approval", "refused", port="rejected"),
        ],
    )


def _pair(api: Api, name: str) -> str:
    """start -> set_fields, with a number in its settings that JavaScript cannot hold."""
    return api.draw(
        name,
        nodes=[
            node("start"),
            node("set_fields", config={"fields": {"order": LONG_INTEGER, "note": "as drawn"}}, at=(280, 0)),
        ],
        edges=[edge("start", "set_fields")],
    )


def test_a_question_is_approved_from_the_inbox(pawl: Pawl, api: Api, asking: str) -> None:
    run = api.start(asking, to="Anna")
    pawl.open_inbox()
    pawl.page.get_by_role("button", name=re.compile(r"Pay Anna\?")).click()
    pawl.page.get_by_role("textbox", name="Comment").fill("It is her money")
    pawl.page.get_by_role("button", name="Approve").click()
    expect(pawl.page.get_by_role("button", name=re.compile(r"Pay Anna\?"))).to_have_count(0)
    api.await_run(run, status="succeeded")
    shown = pawl.open_run(run)
    shown.expect_step("paid", "succeeded")
    shown.expect_step("refused", "skipped")


def test_a_question_is_rejected_on_the_page_of_its_run(pawl: Pawl, api: Api, asking: str) -> None:
    run = pawl.open_run(api.start(asking, to="Bert"))
    run.expect_step("approval", "waiting")
    panel = run.open_step("approval", name="Approval")
    panel.get_by_role("button", name="Reject").click()
    run.expect_status("succeeded")
    run.expect_step("refused", "succeeded")
    run.expect_step("paid", "skipped")


def test_a_run_is_cancelled_and_says_that_what_was_finished_is_kept(pawl: Pawl, api: Api) -> None:
    workflow = api.draw(
        "Waits for long",
        nodes=[node("start"), node("delay", config={"seconds": 900}, at=(260, 0))],
        edges=[edge("start", "delay")],
    )
    run = pawl.open_run(api.start(workflow))
    run.expect_step("delay", "waiting")
    run.page.get_by_role("button", name="Cancel run").click()
    run.page.get_by_role("dialog").get_by_role("button", name="Cancel the run").click()
    run.expect_status("cancelled")
    run.expect_step("delay", "cancelled")
    expect(run.sentence).to_contain_text("What was finished is kept")


def test_of_two_tabs_the_second_to_save_is_asked_and_nothing_is_lost(pawl: Pawl, api: Api) -> None:
    workflow = _pair(api, "Edited in two tabs")
    first = pawl.open_workflow(workflow, name="Edited in two tabs")
    second = Pawl(pawl.page.context.new_page(), workspace="acme").open_workflow(workflow, name="Edited in two tabs")
    _rename(first, "set_fields", "Named in the first tab")
    first.expect_saved()
    _rename(second, "set_fields", "Named in the second tab")
    dialog = second.page.get_by_role("dialog")
    expect(dialog).to_contain_text("Somebody else changed this draft")
    assert _names(api, workflow) == ["Start", "Named in the first tab"]  # nothing was overwritten
    dialog.get_by_role("button", name="Take theirs").click()
    expect(second.page.get_by_role("group", name=re.compile("^Named in the first tab"))).to_be_visible()
    second.area.get_by_role("button", name="Undo").click()
    expect(second.page.get_by_role("group", name=re.compile("^Named in the second tab"))).to_be_visible()
    second.expect_saved()
    assert _names(api, workflow) == ["Start", "Named in the second tab"]


def test_what_was_done_can_be_undone_done_again_copied_and_is_there_after_a_reload(pawl: Pawl, api: Api) -> None:
    workflow = _pair(api, "Edited back and forth")
    canvas = pawl.open_workflow(workflow, name="Edited back and forth")
    keyboard = canvas.page.keyboard
    canvas.open_step("set_fields")
    canvas.step("set_fields").click()
    keyboard.press("Control+c")
    keyboard.press("Control+v")
    expect(canvas.steps()).to_have_count(3)
    keyboard.press("Control+z")
    expect(canvas.steps()).to_have_count(2)
    keyboard.press("Control+Shift+z")
    expect(canvas.steps()).to_have_count(3)
    canvas.step("set_fields_2").click()
    keyboard.press("Delete")
    expect(canvas.steps()).to_have_count(2)
    canvas.area.get_by_role("button", name="Undo").click()
    expect(canvas.steps()).to_have_count(3)
    canvas.expect_saved()
    canvas.page.reload()
    expect(canvas.steps()).to_have_count(3)
    graph = api.graph_of(workflow)
    assert [one["key"] for one in graph["nodes"]] == ["start", "set_fields", "set_fields_2"]
    assert graph["nodes"][2]["config"] == graph["nodes"][1]["config"]


def test_a_number_beyond_javascript_is_shown_exactly_and_survives_a_save_that_did_not_touch_it(
    pawl: Pawl, api: Api
) -> None:
    workflow = _pair(api, "Long numbers")
    canvas = pawl.open_workflow(workflow, name="Long numbers")
    canvas.open_step("set_fields")
    expect(canvas.field("Fields: order")).to_have_text(str(LONG_INTEGER))
    canvas.write("Fields: note", "as changed")
    canvas.expect_saved()
    canvas.page.reload()
    fields = api.graph_of(workflow)["nodes"][1]["config"]["fields"]
    assert fields == {"order": LONG_INTEGER, "note": "as changed"}
    run = pawl.open_run(api.start(workflow))
    run.expect_status("succeeded")
    panel = run.open_step("set_fields", name="Set fields")
    expect(panel.get_by_role("tabpanel")).to_contain_text(str(LONG_INTEGER))


def _rename(canvas: Canvas, key: str, name: str) -> None:
    canvas.open_step(key).get_by_role("textbox", name="Name of the step").fill(name)
    canvas.page.keyboard.press("Enter")


def _names(api: Api, workflow: str) -> list[str]:
    nodes: list[Row] = api.graph_of(workflow)["nodes"]
    return [one["name"] for one in nodes]
