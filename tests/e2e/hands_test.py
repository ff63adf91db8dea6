"""What an operator does to a run on its page: pause it, mend its steps, run it again. By mouse and by keyboard."""

import json
import re
from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from tests.e2e.api import Api, Row, edge, node
from tests.e2e.outside import LONG_INTEGER, Outside
from tests.e2e.pages import Keyboard, Pawl, RunPage

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]


def _held(api: Api, outside: Outside) -> str:
    """A run of which one step runs until the outside opens, and another follows."""
    outside.is_open.clear()
    workflow = api.draw(
        "Takes its time",
        nodes=[
            node("start"),
            node("http_request", key="slow", config={"url": f"http://{outside.address}/slow"}, at=(260, 0)),
            node("output", config={"value": "done"}, at=(520, 0)),
        ],
        edges=[edge("start", "slow"), edge("slow", "output")],
    )
    return api.start(workflow)


def _expect_paused(run: RunPage) -> None:
    run.expect_status("paused")
    expect(run.sentence).to_contain_text("Paused by ")
    expect(run.sentence).to_contain_text("nothing new starts until you continue")


def test_a_run_is_paused_and_continued_with_the_mouse_and_what_runs_goes_on_to_its_end(
    pawl: Pawl, api: Api, outside: Outside
) -> None:
    run = pawl.open_run(_held(api, outside))
    run.expect_step("slow", "running")
    run.page.get_by_role("button", name="Pause", exact=True).click()
    _expect_paused(run)
    expect(run.sentence).to_contain_text("'Slow' runs on to its end")
    outside.is_open.set()
    run.expect_step("slow", "succeeded")  # its result is taken
    run.expect_step("output", "ready")
    run.page.reload()  # the server knows it as well
    _expect_paused(run)
    run.page.get_by_role("button", name="Continue", exact=True).click()
    run.expect_status("succeeded")


def test_a_run_is_paused_and_continued_by_keyboard(pawl: Pawl, api: Api, outside: Outside) -> None:
    run, hands = pawl.open_run(_held(api, outside)), Keyboard(pawl.page)
    run.expect_step("slow", "running")
    hands.press("p")
    _expect_paused(run)
    outside.is_open.set()
    hands.go_to(run.page.get_by_role("button", name="Continue", exact=True))
    hands.press("Enter")
    run.expect_status("succeeded")


# ---------------------------------------------------------------------- stopping before a step


def _breakpoints(api: Api, run: RunPage) -> list[Row]:
    found: list[Row] = api.get(f"/runs/{run.run_id}")["run"]["breakpoints"]
    return found


def test_a_breakpoint_is_set_and_removed_with_the_mouse_and_holds_the_run_before_its_step(
    pawl: Pawl, api: Api, outside: Outside
) -> None:
    run = pawl.open_run(_held(api, outside))
    mark = run.step("output").get_by_role("img", name="Breakpoint")
    run.step("output").click(button="right")
    run.page.get_by_role("menuitem", name="Pause before this step").click()
    expect(mark).to_be_visible()
    assert _breakpoints(api, run) == [{"node": "n_output"}]
    run.step("output").click(button="right")
    run.page.get_by_role("menuitem", name="Remove the breakpoint").click()
    expect(mark).to_be_hidden()
    assert _breakpoints(api, run) == []
    run.open_step("output", name="Output").get_by_role("button", name="Pause before this step").click()
    expect(mark).to_be_visible()
    outside.is_open.set()
    run.expect_status("paused")
    expect(run.sentence).to_contain_text("Paused by a breakpoint before 'Output'")
    run.page.get_by_role("button", name="Continue", exact=True).click()
    run.expect_status("succeeded")


def test_a_breakpoint_is_set_by_keyboard_and_another_page_shows_it(pawl: Pawl, api: Api, outside: Outside) -> None:
    run, hands = pawl.open_run(_held(api, outside)), Keyboard(pawl.page)
    other = Pawl(pawl.page.context.new_page(), workspace="acme").open_run(run.run_id)
    hands.go_to(run.step("output"))
    hands.press("Enter")
    expect(run.panel("Output")).to_be_visible()
    hands.press("b")
    for page in (run, other):
        expect(page.step("output").get_by_role("img", name="Breakpoint")).to_be_visible()
    hands.press("b")
    expect(other.step("output").get_by_role("img", name="Breakpoint")).to_be_hidden()
    outside.is_open.set()
    run.expect_status("succeeded")


# ---------------------------------------------------------------------- one step


def _broken(api: Api, outside: Outside, path: str, method: str = "GET", **policy: Any) -> tuple[str, str]:
    """(run, workflow): a step succeeded, the next one has failed at a closed door, and one was not reached."""
    outside.broken.add(path)
    deliver = {"url": f"http://{outside.address}{path}", "method": method}
    nodes: list[Row] = [
        node("start"),
        node("set_fields", key="order", config={"fields": {"number": LONG_INTEGER}}, at=(260, 0)),
        node("http_request", key="deliver", config=deliver, at=(520, 0), **policy),
        node("output", config={"value": "{{ steps.deliver.output }}"}, at=(780, 0)),
    ]
    edges = [edge("start", "order"), edge("order", "deliver"), edge("deliver", "output")]
    workflow = api.draw(f"Delivers to {path}", nodes=nodes, edges=edges)
    return api.start(workflow), workflow


def _open_failed(pawl: Pawl, api: Api, run_id: str) -> tuple[RunPage, Locator]:
    api.await_run(run_id, status="failed")
    run = pawl.open_run(run_id, step="deliver")
    return run, run.panel("Deliver")


def _plan(run: RunPage, noun: str) -> Locator:
    return run.page.get_by_role("region", name=f"Plan of the {noun}")


def _step_of(api: Api, run: str, path: str) -> Row:
    found: Row = api.get(f"/runs/{run}/steps/{path}")
    return found


def test_a_failed_step_is_skipped_with_the_mouse_and_the_flow_goes_on_past_it(
    pawl: Pawl, api: Api, outside: Outside
) -> None:
    run, panel = _open_failed(pawl, api, _broken(api, outside, "/skipped")[0])
    panel.get_by_role("button", name="Skip").click()
    plan = _plan(run, "skip")
    expect(plan).to_contain_text("'Deliver' is left out")
    expect(plan).to_contain_text("Keeps 2 finished steps and runs 1, from 'Output' on")
    expect(plan).to_contain_text("There is no undo")
    assert _step_of(api, run.run_id, "deliver")["step"]["status"] == "failed"  # nothing has happened yet
    plan.get_by_role("button", name="Skip Deliver").click()
    run.expect_step("deliver", "skipped")
    expect(plan).to_be_hidden()
    assert outside.asked["/skipped"] == 1


def test_an_output_is_given_by_keyboard_to_the_last_digit(pawl: Pawl, api: Api, outside: Outside) -> None:
    run, panel = _open_failed(pawl, api, _broken(api, outside, "/supplied")[0])
    hands = Keyboard(pawl.page)
    expect(panel.get_by_role("button", name="Supply output")).to_be_visible()
    hands.press("o")
    hands.go_to(panel.get_by_role("textbox", name="Output of the step"))
    hands.press("Control+a")
    hands.paste('{"parcel": ')
    hands.go_to(panel.get_by_role("button", name="Show what it does"))
    hands.press("Enter")
    expect(panel.get_by_role("alert")).to_contain_text("This is not JSON")
    hands.go_to(panel.get_by_role("textbox", name="Output of the step"), by="Shift+Tab")
    hands.press("Control+a")
    hands.paste(f'{{"parcel": {LONG_INTEGER}}}')
    hands.go_to(panel.get_by_role("button", name="Show what it does"))
    hands.press("Enter")
    plan = _plan(run, "supplied output")
    expect(plan).to_contain_text("marked manual")
    expect(plan).to_be_focused()
    hands.press("Enter")
    run.expect_status("succeeded")
    expect(panel.get_by_text("manual", exact=True)).to_be_visible()
    assert _step_of(api, run.run_id, "output")["output"]["value"] == {"parcel": LONG_INTEGER}
    assert outside.asked["/supplied"] == 1


def test_the_input_is_edited_and_what_the_step_refuses_is_told_under_the_field(
    pawl: Pawl, api: Api, outside: Outside
) -> None:
    run, panel = _open_failed(pawl, api, _broken(api, outside, "/mistyped")[0])
    panel.get_by_role("button", name="Edit input and resume").click()
    field = panel.get_by_role("textbox", name="Input of the step")
    expect(field).to_contain_text("/mistyped")
    settings = _step_of(api, run.run_id, "deliver")["input"]["value"]
    for text, refused in (({"method": "GET"}, "url: "), ({**settings, "url": settings["url"] + "-right"}, "")):
        field.click()
        run.page.keyboard.press("Control+a")
        run.page.keyboard.insert_text(json.dumps(text))
        panel.get_by_role("button", name="Show what it does").click()
        if refused:
            expect(panel.get_by_role("alert")).to_contain_text(refused)
            expect(run.page.get_by_role("button", name="Resume Deliver on this input")).to_be_disabled()
    plan = _plan(run, "edited input")
    expect(plan).to_contain_text("under a new key")
    plan.get_by_role("button", name="Resume Deliver on this input").click()
    run.expect_status("succeeded")
    assert (outside.asked["/mistyped"], outside.asked["/mistyped-right"]) == (1, 1)


def test_a_retry_is_started_at_once_by_keyboard(pawl: Pawl, api: Api, outside: Outside) -> None:
    run_id, _ = _broken(api, outside, "/later", retry={"attempts": 3, "first_delay_s": 600, "max_delay_s": 600})
    api.await_step(run_id, "deliver", "retry_wait")
    run, hands = pawl.open_run(run_id, step="deliver"), Keyboard(pawl.page)
    outside.broken.clear()
    expect(run.panel("Deliver").get_by_role("button", name="Retry now")).to_be_visible()
    hands.press("n")
    expect(_plan(run, "retry")).to_contain_text("The next attempt of 'Deliver' starts at once")
    hands.press("Enter")
    run.expect_status("succeeded")
    assert outside.asked["/later"] == 2


def test_a_plan_is_made_anew_as_the_run_goes_on_and_says_what_changed(pawl: Pawl, api: Api, outside: Outside) -> None:
    run, panel = _open_failed(pawl, api, _broken(api, outside, "/twice")[0])
    panel.get_by_role("button", name="Skip").click()
    plan = _plan(run, "skip")
    expect(plan.get_by_role("button", name="Skip Deliver")).to_be_enabled()
    api.command(f"/runs/{run.run_id}/resume", generation=1)  # somebody else, who fails as well
    api.await_run(run.run_id, status="failed")
    expect(plan).to_contain_text("Meanwhile somebody resumed or mended the run. This is the plan now.")
    plan.get_by_role("button", name="Skip Deliver").click()
    run.expect_step("deliver", "skipped")
    assert outside.asked["/twice"] == 2


def test_an_output_by_hand_says_by_which_port_the_flow_goes_on(pawl: Pawl, api: Api) -> None:
    workflow = api.draw(
        "Chooses by what is missing",
        nodes=[
            node("start"),
            node("branch", config={"condition": "{{ run.input.missing > 1 }}"}, at=(260, 0)),
            node("output", key="dear", config={"value": "dear"}, at=(520, -80)),
            node("output", key="cheap", config={"value": "cheap"}, at=(520, 80)),
        ],
        edges=[
            edge("start", "branch"),
            edge("branch", "dear", port="true"),
            edge("branch", "cheap", port="false"),
        ],
    )
    run_id = api.start(workflow)
    api.await_run(run_id, status="failed")
    run = pawl.open_run(run_id, step="branch")
    panel = run.panel("Branch")
    panel.get_by_role("button", name="Supply output").click()
    panel.get_by_role("button", name="Show what it does").click()
    plan = _plan(run, "supplied output")
    expect(plan).to_contain_text("runs 1, from 'Dear' on")
    panel.get_by_role("combobox", name="The flow goes on by").click()
    run.page.get_by_role("option", name="No").click()
    expect(plan).to_be_hidden()  # it was of the other port
    panel.get_by_role("button", name="Show what it does").click()
    expect(plan).to_contain_text("runs 1, from 'Cheap' on")
    plan.get_by_role("button", name="Supply the output of Branch").click()
    run.expect_status("succeeded")
    run.expect_step("cheap", "succeeded")
    run.expect_step("dear", "skipped")


def test_a_step_whose_expression_failed_is_given_its_input_by_hand(pawl: Pawl, api: Api) -> None:
    workflow = api.draw(
        "Names what is missing",
        nodes=[node("start"), node("set_fields", config={"fields": {"n": "{{ run.input.missing }}"}}, at=(260, 0))],
        edges=[edge("start", "set_fields")],
    )
    run_id = api.start(workflow)
    api.await_run(run_id, status="failed")
    run = pawl.open_run(run_id, step="set_fields")
    panel = run.panel("Set fields")
    panel.get_by_role("button", name="Edit input and resume").click()
    field = panel.get_by_role("textbox", name="Input of the step")
    expect(field).to_contain_text("run.input.missing")  # as drawn: no attempt has had an input
    field.click()
    run.page.keyboard.press("Control+a")
    run.page.keyboard.insert_text(f'{{"fields": {{"n": {LONG_INTEGER}}}}}')
    panel.get_by_role("button", name="Show what it does").click()
    _plan(run, "edited input").get_by_role("button", name="Resume Set fields on this input").click()
    run.expect_status("succeeded")
    assert _step_of(api, run_id, "set_fields")["output"]["value"] == {"n": LONG_INTEGER}


# ---------------------------------------------------------------------- again, as another run


def test_a_step_is_run_again_in_a_new_run_on_the_newest_version(pawl: Pawl, api: Api, outside: Outside) -> None:
    run_id, workflow = _broken(api, outside, "/first", "POST")
    run, panel = _open_failed(pawl, api, run_id)
    api.publish_changed(
        workflow, key="deliver", config={"url": f"http://{outside.address}/first-mended", "method": "POST"}
    )
    panel.get_by_role("button", name="Run again from here").click()
    plan = _plan(run, "fork")
    expect(plan.get_by_role("row", name=re.compile("^Deliver .*runs again It was chosen"))).to_be_visible()
    expect(plan.get_by_role("row", name=re.compile("^Order .*kept"))).to_be_visible()
    expect(plan).to_contain_text("May take effect twice: 'Deliver'")
    plan.get_by_text("Version 2, the newest").click()
    expect(plan).to_contain_text("A new run on version 2 goes on from 'Deliver'")
    expect(
        plan.get_by_role("row", name=re.compile("^Deliver .*settings are different in this version"))
    ).to_be_visible()
    plan.get_by_role("button", name="Start a new run from Deliver").click()
    expect(run.page).not_to_have_url(re.compile(run_id))
    run.expect_status("succeeded")
    fork = run.run_id
    origin = run.page.get_by_role("main").get_by_role("link", name=re.compile(r"^run \d+$"))
    expect(origin.locator("..")).to_contain_text("from 'Deliver'")
    origin.click()
    expect(run.page).to_have_url(re.compile(f"{run_id}.*step=deliver"))
    run.page.get_by_role("button", name="1 fork").click()
    run.page.get_by_role("menuitem").click()
    expect(run.page).to_have_url(re.compile(fork))
    assert (outside.asked["/first"], outside.asked["/first-mended"]) == (1, 1)
    assert api.get(f"/runs/{run_id}")["run"]["status"] == "failed"  # it stays as it is


def test_a_step_is_run_again_by_keyboard(pawl: Pawl, api: Api, outside: Outside) -> None:
    run_id, _ = _broken(api, outside, "/by-keys", "POST")
    run, _ = _open_failed(pawl, api, run_id)
    hands = Keyboard(pawl.page)
    expect(run.panel("Deliver").get_by_role("button", name="Run again from here")).to_be_visible()
    outside.broken.clear()
    hands.press("f")
    plan = _plan(run, "fork")
    hands.go_to(plan.get_by_role("checkbox"))
    hands.press("Space")
    expect(plan).to_contain_text("with the same key as before")
    hands.go_to(plan.get_by_role("button", name="Start a new run from Deliver"))
    hands.press("Enter")
    expect(run.page).not_to_have_url(re.compile(run_id))
    run.expect_status("succeeded")
