"""How a run is watched: its past, why a step does not run, its log, how far it got. By mouse and by keyboard."""

import re

import pytest
from playwright.sync_api import expect

from tests.e2e.api import Api, edge, node
from tests.e2e.outside import Outside
from tests.e2e.pages import Keyboard, Pawl, RunPage

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]


def _ended(pawl: Pawl, api: Api, **selection: str) -> RunPage:
    workflow = api.draw(
        "Ends at once",
        nodes=[
            node("start"),
            node("set_fields", key="order", config={"fields": {"number": 7}}, at=(260, 0)),
            node("output", config={"value": "{{ steps.order.output }}"}, at=(520, 0)),
        ],
        edges=[edge("start", "order"), edge("order", "output")],
    )
    run_id = api.start(workflow)
    api.await_run(run_id, status="succeeded")
    return pawl.open_run(run_id, **selection)


def _seq_of(api: Api, run: RunPage, path: str, status: str) -> int:
    return next(
        int(event["seq"]) for event in api.events(run.run_id) if (event["path"], event["type"]) == (path, status)
    )


def test_the_past_is_shown_by_keyboard_said_to_be_the_past_and_left_by_a_key(pawl: Pawl, api: Api) -> None:
    run, hands = _ended(pawl, api, step="order"), Keyboard(pawl.page)
    banner = run.page.get_by_role("region", name="The past is shown")
    run.expect_step("output", "succeeded")
    succeeded = _seq_of(api, run, "output", "step.succeeded")
    for _ in range(len(api.events(run.run_id)) - succeeded + 1):
        hands.press(",")
    expect(banner).to_contain_text("This is the past")
    expect(run.step("output").get_by_text("succeeded", exact=True)).to_have_count(0)
    expect(run.panel("Order").get_by_role("button", name="Run again from here")).to_have_count(0)  # nothing to be done
    run.page.reload()  # the address knows it
    expect(banner).to_contain_text(f"after event {succeeded - 1}")
    hands.press(".")
    run.expect_step("output", "succeeded")
    hands.press("l")
    expect(banner).to_be_hidden()
    expect(run.panel("Order").get_by_role("button", name="Run again from here")).to_be_visible()


def test_the_past_is_shown_with_the_mouse_from_the_timeline(pawl: Pawl, api: Api) -> None:
    run = _ended(pawl, api, view="timeline")
    timeline = run.page.get_by_role("region", name="Timeline of the run")
    expect(timeline.get_by_role("listitem").filter(has_text="Order")).to_be_visible()
    slider = run.page.get_by_role("slider", name="Time in the run")
    slider.fill(str(_seq_of(api, run, "order", "step.running")))
    banner = run.page.get_by_role("region", name="The past is shown")
    expect(banner).to_contain_text("Order: running")
    run.show("Canvas")
    expect(run.step("order").get_by_text("running", exact=True)).to_be_visible()
    expect(run.step("output").get_by_text("pending", exact=True)).to_be_visible()
    banner.get_by_role("button", name="Back to now").click()
    run.expect_step("output", "succeeded")


def test_a_step_that_waits_says_for_what_and_what_unblocks_it(pawl: Pawl, api: Api, outside: Outside) -> None:
    outside.is_open.clear()
    workflow = api.draw(
        "Waits its turn",
        nodes=[
            node("start"),
            node("http_request", key="slow", config={"url": f"http://{outside.address}/slow"}, at=(260, 0)),
            node("output", config={"value": "done"}, at=(520, 0)),
        ],
        edges=[edge("start", "slow"), edge("slow", "output")],
    )
    run, hands = pawl.open_run(api.start(workflow), step="output"), Keyboard(pawl.page)
    why = run.page.get_by_role("region", name="Why it is not running")
    run.expect_step("slow", "running")
    expect(why).to_contain_text("Waits for 'Slow' to end.")
    expect(why).to_contain_text(re.compile(r"For .+ now"))
    why.get_by_role("button", name="Go to Slow").click()  # by mouse
    expect(run.panel("Slow").get_by_test_id("pulse")).to_contain_text(re.compile(r"Its worker was heard \d+ s ago"))
    expect(run.step("slow")).to_contain_text("heard")
    expect(why).to_be_hidden()
    hands.press("p")
    run.expect_status("paused")
    outside.is_open.set()
    run.expect_step("output", "ready")
    run.step("output").click()
    expect(why).to_contain_text("starts when the run is unpaused")
    hands.go_to(why.get_by_role("button", name="Continue the run"))  # by keyboard
    hands.press("Enter")
    run.expect_status("succeeded")
    expect(why).to_be_hidden()


CODE = """
for number in range(40):
    print(f"INFO line {number}", flush=True)
print("ERROR the last one", flush=True)
pawl.progress(640, 1000, "row 640")
raise ValueError("broken on purpose")
"""


def test_a_log_is_searched_wrapped_timed_and_downloaded_and_the_node_says_where_it_died(pawl: Pawl, api: Api) -> None:
    nodes = [node("start"), node("python", key="load", config={"code": CODE}, at=(260, 0))]
    run_id = api.start(api.draw("Dies on its way", nodes=nodes, edges=[edge("start", "load")]))
    api.await_run(run_id, status="failed")
    run, hands = pawl.open_run(run_id, step="load", tab="logs"), Keyboard(pawl.page)
    expect(run.step("load")).to_contain_text("died at 640 of 1,000")
    expect(run.panel("Load").get_by_test_id("pulse")).to_contain_text("Died at 640 of 1,000 (row 640)")
    log = run.panel("Load").get_by_role("region", name="Log")
    expect(log).to_contain_text("line 39")
    hands.press("/")
    hands.paste("LAST ONE")
    expect(log.locator("mark")).to_have_text("last one")
    expect(log).not_to_contain_text("line 39")
    hands.press("Escape")
    hands.press("t")
    expect(log.locator("time")).to_have_text(re.compile(r"^\d\d:\d\d:\d\d$"))
    wrap = run.panel("Load").get_by_role("button", name="Wrap lines")
    expect(wrap).to_have_attribute("aria-pressed", "true")
    hands.press("w")
    expect(wrap).to_have_attribute("aria-pressed", "false")
    with run.page.expect_download() as download:
        hands.press("d")
    assert download.value.suggested_filename.endswith("-load-1.log")
    assert "INFO line 0\n" in download.value.path().read_text()
