"""A real Pawl, a real Chromium. Everything that the page complains of on its console fails the test."""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, expect, sync_playwright

from sample.settings import DEMO_WORKSPACE
from tests.e2e.api import Api
from tests.e2e.browser import FLAGS, find_chromium
from tests.e2e.outside import Outside
from tests.e2e.pages import Pawl
from tests.e2e.stack import Stack, build_front_end

PATIENCE_MS = 45_000
# The browser's own word for an answer that is not 2xx. What the page makes of it is what a test looks at.
REFUSALS = ("Failed to load resource",)


@pytest.fixture(scope="session")
def outside() -> Iterator[Outside]:
    world = Outside()
    yield world
    world.close()


@pytest.fixture(scope="session")
def stack(outside: Outside) -> Iterator[Stack]:
    build_front_end()
    above = Path(tempfile.mkdtemp(prefix="pawl-e2e-"))
    above.chmod(0o711)  # root lends PostgreSQL to an ordinary account, which must be able to pass
    running = Stack(above / "state", allow=outside.address)
    yield running
    running.stop()
    shutil.rmtree(above, ignore_errors=True)


@pytest.fixture(scope="session")
def api(stack: Stack) -> Iterator[Api]:
    client = Api(stack.url, workspace=DEMO_WORKSPACE)
    client.sign_in(stack.email, stack.password)
    yield client
    client.close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Once a module: Playwright's loop must not stand in the way of tests that run between two modules of ours."""
    chromium = find_chromium()
    if chromium is None:
        pytest.skip("no Chromium on this machine: apt-get install chromium")
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield opened
        opened.close()


class Complaints:
    """What pages wrote to their consoles, and what they threw."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.expected: tuple[str, ...] = REFUSALS

    def watch(self, page: Page) -> None:
        page.on("console", self._on_console)
        page.on("pageerror", lambda error: self.said.append(f"{page.url}: thrown: {error}"))

    def _on_console(self, message: ConsoleMessage) -> None:
        is_news = message.type in ("error", "warning") and not message.text.startswith(self.expected)
        if is_news:
            self.said.append(f"{message.location.get('url')}: {message.type}: {message.text}")


@pytest.fixture
def complaints() -> Iterator[Complaints]:
    """Empty at the end of each test: no console error, no warning, no violation of the content security policy."""
    heard = Complaints()
    yield heard
    assert heard.said == []


@pytest.fixture
def open_context(
    request: pytest.FixtureRequest, browser: Browser, complaints: Complaints
) -> Iterator[Callable[..., BrowserContext]]:
    opened: list[BrowserContext] = []

    def open_context(**options: object) -> BrowserContext:
        settings = {"viewport": {"width": 1440, "height": 900}, "reduced_motion": "reduce", **options}
        context = browser.new_context(**settings)
        context.set_default_timeout(PATIENCE_MS)
        context.on("page", complaints.watch)
        opened.append(context)
        return context

    yield open_context
    for number, context in enumerate(opened):
        _take_pictures(request.node.name, context, number)
        context.close()


@pytest.fixture
def pawl(open_context: Callable[..., BrowserContext], stack: Stack, api: Api) -> Pawl:
    """A page of somebody who is signed in already."""
    context = open_context(base_url=stack.url)
    context.add_cookies(api.cookies())
    return Pawl(context.new_page(), workspace=DEMO_WORKSPACE)


@pytest.fixture(autouse=True)
def _mended(request: pytest.FixtureRequest) -> None:
    if "outside" in request.fixturenames:
        request.getfixturevalue("outside").mend()


def _take_pictures(test: str, context: BrowserContext, number: int) -> None:
    """With PAWL_E2E_PICTURES=folder, what each page showed at the end of each test."""
    folder = os.environ.get("PAWL_E2E_PICTURES")
    for place, page in enumerate(context.pages if folder else ()):
        page.screenshot(path=str(Path(str(folder)) / f"{test[:80].replace('/', '_')}-{number}{place}.png"))
