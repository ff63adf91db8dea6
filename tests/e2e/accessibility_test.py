"""axe on every page, in both themes: none of its serious or critical findings."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import BrowserContext, Page, expect

from tests.e2e.api import Api, edge, node
from tests.e2e.outside import Outside
from tests.e2e.pages import Pawl, RunPage
from tests.e2e.stack import Stack

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

GRAVE = ("serious", "critical")


@pytest.fixture(scope="module")
def failed_run(api: Api, outside: Outside) -> str:
    """One step succeeded, one failed, one was not reached."""
    outside.broken.add("/closed")
    workflow = api.draw(
        "Calls a closed door",
        nodes=[
            node("start"),
            node("http_request", config={"url": f"http://{outside.address}/closed"}, at=(260, 0)),
            node("output", config={"value": "{{ steps.http_request.output.body }}"}, at=(520, 0)),
        ],
        edges=[edge("start", "http_request"), edge("http_request", "output")],
    )
    run = api.start(workflow, order=7)
    api.await_run(run, status="failed")
    return run


@pytest.fixture(scope="module")
def asking_run(api: Api) -> str:
    """Waits for a person, so that the inbox has something to show."""
    workflow = api.draw(
        "Asks before it goes on",
        nodes=[
            node("start"),
            node("approval", config={"title": "May it go on?", "data": {"amount": 900}}, at=(260, 0)),
            node("output", config={"value": True}, at=(520, 0)),
        ],
        edges=[edge("start", "approval"), edge("approval", "output", port="approved")],
    )
    run = api.start(workflow)
    api.await_step(run, "approval", "waiting")
    return run


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_serious_on_any_page(
    open_context: Callable[..., BrowserContext], stack: Stack, api: Api, failed_run: str, asking_run: str, theme: str
) -> None:
    context = open_context(base_url=stack.url, color_scheme=theme)
    page = context.new_page()
    page.goto("/accounts/login/")
    expect(page.get_by_role("button", name="Sign in")).to_be_visible()
    findings = dict(_findings(page, "sign-in"))
    context.add_cookies(api.cookies())
    pawl = Pawl(page, workspace="acme")
    for name in _visit(pawl, api, failed_run, asking_run):
        expect(page.locator("html")).to_have_attribute("data-mantine-color-scheme", theme)
        findings |= dict(_findings(page, name))
    assert findings == {}


def _visit(pawl: Pawl, api: Api, failed_run: str, asking_run: str) -> Iterator[str]:
    """Opens one page after the other, and names it once it shows what it is for."""
    page = pawl.page
    yield from _lists(pawl)
    canvas = pawl.open_workflow(api.workflow_named("Supplier invoices"), name="Supplier invoices")
    expect(canvas.steps().first).to_be_visible()
    yield "canvas"
    canvas.steps().first.click()
    expect(canvas.panel).to_be_visible()
    yield "canvas with a step's settings"
    run = pawl.open_run(failed_run)
    run.expect_step("http_request", "failed")
    yield "run, canvas"
    run.open_step("http_request", name="Http request")
    expect(page.get_by_role("region", name="Error")).to_be_visible()
    yield "run, panel of the failed step"
    page.get_by_role("button", name="Resume from Http request").first.click()
    expect(run.plan).to_be_visible()
    yield "run, plan of a resume"
    yield from _hands(run)
    for view, landmark in (("timeline", "Timeline of the run"), ("events", "Events of the run, newest first")):
        run = pawl.open_run(failed_run, view=view)
        expect(page.get_by_label(landmark)).to_be_visible()
        yield f"run, {view}"
    run = pawl.open_run(asking_run, step="approval")
    expect(run.panel("Approval").get_by_role("button", name="Approve")).to_be_visible()
    yield "run, approval"


def _hands(run: RunPage) -> Iterator[str]:
    """What an operator does to the failed step, which is selected."""
    page = run.page
    page.keyboard.press("Escape")
    page.keyboard.press("f")
    expect(page.get_by_role("region", name="Plan of the fork").get_by_role("table")).to_be_visible()
    yield "run, plan of a fork"
    page.keyboard.press("Escape")
    page.keyboard.press("o")
    expect(page.get_by_role("textbox", name="Output of the step")).to_be_visible()
    yield "run, output by hand"
    page.get_by_role("button", name="Not now").click()
    page.keyboard.press("b")
    expect(run.step("http_request").get_by_role("img", name="Breakpoint")).to_be_visible()
    run.step("http_request").click(button="right")
    expect(page.get_by_role("menuitem", name="Run again from here")).to_be_visible()
    yield "run, menu of a step"
    page.keyboard.press("Escape")


def _lists(pawl: Pawl) -> Iterator[str]:
    page = pawl.page
    for path, what in (
        ("workflows", page.get_by_role("link", name="Supplier invoices")),
        ("runs", page.get_by_role("table", name="Runs")),
        ("bulk", page.get_by_text("Nothing was done to many runs yet")),
        ("failures", page.get_by_role("list", name="Open failures")),
        ("inbox", page.get_by_role("list", name="Open questions")),
        ("overview", page.get_by_role("figure", name="Runs by when they were started")),
        ("alerts", page.get_by_role("heading", name="Alerts")),
        ("connections", page.get_by_role("table")),
        ("team", page.get_by_role("table", name="Members")),
        ("mailbox", page.get_by_role("heading", name="Local mailbox")),
        ("nowhere", page.get_by_text("There is no such page")),
    ):
        pawl.go(path)
        expect(what.first).to_be_visible()
        yield path


def _findings(page: Page, name: str) -> Iterator[tuple[str, list[str]]]:
    results: dict[str, Any] = Axe().run(page, options={"resultTypes": ["violations"]}).response
    for one in results["violations"]:
        if one["impact"] in GRAVE:
            where = [f"{node['html'][:160]} — {node['failureSummary'][:200]}" for node in one["nodes"][:4]]
            yield f"{name}: {one['id']}", where
