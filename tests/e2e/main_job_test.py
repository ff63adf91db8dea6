"""The main job by hand: draw, publish, run, watch it fail, mend it, resume. Once with the mouse, once by keyboard."""

import json
from collections.abc import Callable
from datetime import datetime

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.e2e.api import Api
from tests.e2e.outside import LONG_INTEGER, Outside
from tests.e2e.pages import Canvas, Keyboard, Moves, Pawl
from tests.e2e.stack import Stack

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

SEEN_WITHIN_S = 1.0


def test_with_the_mouse_one_draws_publishes_runs_and_resumes_from_the_step_that_failed(
    open_context: Callable[..., BrowserContext], stack: Stack, api: Api, outside: Outside
) -> None:
    pawl = Pawl(open_context(base_url=stack.url).new_page(), workspace="acme")
    pawl.sign_in(stack.email, stack.password)
    canvas = pawl.new_workflow("Orders by mouse")
    _draw_with_the_mouse(canvas)
    _fill_in(canvas, outside)
    canvas.expect_saved()
    canvas.publish(version=1)

    outside.delay_s = 1.5  # so that a step can be seen running
    outside.broken.add("/deliver/mouse")
    canvas.run(json.dumps({"order": "mouse", "limit": 500}), version=1)
    run = pawl.run_page()
    moves = Moves(run.page)
    run.expect_step("http_request", "succeeded")
    run.expect_step("http_request_2", "failed")
    run.expect_status("failed")
    expect(run.sentence).to_contain_text("Failed at 'HTTP request'")
    expect(run.sentence).to_contain_text("503")
    run.expect_step("output", "not reached")
    panel = run.open_step("http_request_2", name="HTTP request")
    expect(panel.get_by_role("region", name="Error")).to_contain_text("503")

    outside.broken.clear()
    run.resume_by_plan("HTTP request")
    run.expect_step("http_request_2", "running")
    run.expect_status("succeeded")
    run.expect_step("output", "succeeded")
    _expect_seen_in_time(moves, api, run.run_id)
    assert api.attempts(run.run_id) == {"http_request": 1, "branch": 1, "http_request_2": 2, "output": 1}
    assert outside.asked["/orders/mouse"] == 1  # what had finished did not happen again
    assert outside.asked["/deliver/mouse"] == 2
    panel = run.open_step("output", name="Output")
    expect(panel).to_contain_text(str(LONG_INTEGER))


def test_with_the_keyboard_alone_one_draws_publishes_runs_and_resumes_from_the_step_that_failed(
    open_context: Callable[..., BrowserContext], stack: Stack, api: Api, outside: Outside
) -> None:
    page = open_context(base_url=stack.url).new_page()
    hands = Keyboard(page)
    _sign_in_by_keyboard(page, hands, stack)
    canvas = _draw_by_keyboard(page, hands, outside)
    canvas.expect_saved()
    hands.press("Control+s")
    hands.go_to(page.get_by_role("button", name="Publish version 1"))
    hands.press("Enter")
    expect(page.get_by_text("Version 1 is live")).to_be_visible()

    outside.broken.add("/deliver/keys")
    hands.press("Control+Enter")
    hands.go_to(page.get_by_role("dialog").get_by_role("textbox", name="Input"))
    hands.paste(json.dumps({"order": "keys", "limit": 500}))
    hands.go_to(page.get_by_role("button", name="Run version 1"))
    hands.press("Enter")
    run = Pawl(page, workspace="acme").run_page()
    run.expect_status("failed")
    expect(run.sentence).to_contain_text("503")
    hands.go_to(run.step("http_request_2"))
    hands.press("Enter")
    expect(run.panel("HTTP request").get_by_role("region", name="Error")).to_contain_text("503")
    hands.press("Escape")
    expect(run.panel("HTTP request")).to_be_hidden()

    outside.broken.clear()
    hands.press("r")
    expect(run.plan).to_contain_text("Keeps 3 finished steps and runs 2")
    hands.press("Enter")
    run.expect_status("succeeded")
    assert api.attempts(run.run_id) == {"http_request": 1, "branch": 1, "http_request_2": 2, "output": 1}
    assert outside.asked["/orders/keys"] == 1
    assert outside.asked["/deliver/keys"] == 2


def _sign_in_by_keyboard(page: Page, hands: Keyboard, stack: Stack) -> None:
    page.goto("/")
    hands.go_to(page.get_by_label("Email"))
    hands.type(stack.email)
    hands.go_to(page.get_by_label("Password", exact=True))
    hands.type(stack.password)
    hands.press("Enter")
    hands.go_to(page.get_by_role("button", name="New workflow"))
    hands.press("Enter")
    hands.go_to(page.get_by_role("dialog").get_by_label("Name"))
    hands.type("Orders by keyboard")
    hands.press("Enter")


def _draw_by_keyboard(page: Page, hands: Keyboard, outside: Outside) -> Canvas:
    canvas = Pawl(page, workspace="acme").canvas_of("Orders by keyboard")
    expect(canvas.step("start")).to_be_visible()
    hands.press("Control+f")
    hands.go_to(page.get_by_role("combobox", name="Find a step"), at_most=1)
    hands.type("start")
    hands.press("Enter")
    expect(canvas.step("start")).to_be_focused()
    order = "{{ run.input.order }}"
    for title, key, field, value in (
        ("HTTP request", "http_request", "Address", f"http://{outside.address}/orders/{order}"),
        ("Branch", "branch", "Condition", "{{ steps.http_request.output.body.amount > run.input.limit }}"),
        ("HTTP request", "http_request_2", "Address", f"http://{outside.address}/deliver/{order}"),
        ("Output", "output", "Output of the run", "{{ steps.http_request_2.output.body }}"),
    ):
        hands.press("Tab")  # the next step, from the one that has the focus
        expect(page.get_by_role("combobox", name="Add the next step")).to_be_focused()
        hands.type(title)
        hands.press("Enter")
        expect(canvas.step(key)).to_be_focused()
        hands.press("Enter")  # its settings
        hands.go_to(canvas.field(field))
        hands.type(value)
        hands.press("F6")  # back to the step
        expect(canvas.step(key)).to_be_focused()
    hands.press("1")  # all of it into the view
    expect(canvas.edges).to_have_count(4)
    return canvas


def _draw_with_the_mouse(canvas: Canvas) -> None:
    expect(canvas.step("start")).to_be_visible()  # a new workflow has its start
    canvas.move("start", to=(130, 200))
    canvas.drag_in("HTTP request", to=(390, 200))
    canvas.drag_in("Branch", to=(650, 200))
    canvas.drag_in("Output", to=(650, 420))
    canvas.connect("start", "http_request")
    canvas.connect("http_request", "branch")
    canvas.connect("branch", "output", port="true")
    canvas.drag_in("HTTP request", to=canvas.middle_of_edge(3))  # into the edge
    expect(canvas.step("http_request_2")).to_be_visible()
    canvas.fit()
    expect(canvas.edges).to_have_count(4)


def _fill_in(canvas: Canvas, outside: Outside) -> None:
    canvas.open_step("http_request")
    canvas.write("Address", f"http://{outside.address}/orders/{{{{ run.input.order }}}}")
    canvas.open_step("branch")
    canvas.write("Condition", "{{ steps.http_request.output.body.amount > run.input.limit }}")
    canvas.open_step("http_request_2")
    canvas.write("Address", f"http://{outside.address}/deliver/{{{{ run.input.order }}}}")
    canvas.open_step("output")
    canvas.write("Output of the run", "{{ steps.http_request_2.output.body }}")
    expect(canvas.page.get_by_role("button", name="No problems")).to_be_visible()


def _expect_seen_in_time(moves: Moves, api: Api, run: str) -> None:
    """Every end of a step that the page was there for stood on the screen within a second of its commit."""
    seen = moves.seen()
    late = {}
    for event in api.events(run):
        what = (event.get("path") or "", event["type"].removeprefix("step."))
        if event["type"] in ("step.succeeded", "step.failed") and what in seen:
            late[what] = seen[what] - datetime.fromisoformat(event["at"]).timestamp()
    assert ("http_request_2", "failed") in late
    assert ("output", "succeeded") in late
    assert max(late.values()) <= SEEN_WITHIN_S, late
