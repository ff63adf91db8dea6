"""The pages as a person meets them: everything is found by its role and its name.

Two things have neither and are found by what they are: the ports of a step, which a mouse drags from (by keyboard one
connects with `C`), and a step's own colour and word of its state, inside the step.
"""

import re
from typing import Any

from playwright.sync_api import FloatRect, Locator, Page, expect

SLOW_MS = 90_000  # a run may wait for a worker that other tests keep busy


class Pawl:
    """What all pages have, and the ways to each of them."""

    def __init__(self, page: Page, *, workspace: str) -> None:
        self.page = page
        self.workspace = workspace

    @property
    def connection(self) -> Locator:
        return self.page.get_by_test_id("connection")

    @property
    def main(self) -> Locator:
        return self.page.get_by_role("main")

    def go(self, path: str) -> None:
        self.page.goto(f"/w/{self.workspace}/{path}")

    def sign_in(self, email: str, password: str) -> None:
        self.page.goto("/")
        self.page.get_by_label("Email").fill(email)
        self.page.get_by_label("Password", exact=True).fill(password)
        self.page.get_by_role("button", name="Sign in").click()
        expect(self.page.get_by_role("heading", name="Workflows")).to_be_visible()

    def new_workflow(self, name: str) -> "Canvas":
        self.page.get_by_role("button", name="New workflow").click()
        self.page.get_by_role("dialog").get_by_label("Name").fill(name)
        self.page.get_by_role("button", name="Create and draw").click()
        return self.canvas_of(name)

    def open_workflow(self, workflow: str, *, name: str) -> "Canvas":
        self.go(f"workflows/{workflow}")
        return self.canvas_of(name)

    def canvas_of(self, name: str) -> "Canvas":
        canvas = Canvas(self.page, name=name)
        expect(canvas.area).to_be_visible()
        return canvas

    def open_run(self, run: str, **selection: str) -> "RunPage":
        query = "&".join(f"{name}={value}" for name, value in selection.items())
        self.go(f"runs/{run}" + (f"?{query}" if query else ""))
        return self.run_page()

    def run_page(self) -> "RunPage":
        run = RunPage(self.page)
        expect(run.title).to_be_visible()
        return run

    def open_inbox(self) -> None:
        self.go("inbox")
        expect(self.page.get_by_role("heading", name="Inbox")).to_be_visible()


class Steps:
    """A graph on the screen, to edit or to watch."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def step(self, key: str) -> Locator:
        return self.page.get_by_role("group", name=re.compile(rf", key {re.escape(key)}$"))

    def steps(self) -> Locator:
        return self.page.get_by_role("group", name=re.compile(r", key \w+$"))


class Canvas(Steps):
    def __init__(self, page: Page, *, name: str) -> None:
        super().__init__(page)
        self.area = page.get_by_role("application", name=f"Canvas of {name}")
        self.library = page.get_by_role("complementary", name="Step library")
        self.panel = page.get_by_role("complementary", name="Settings of the step")
        self.edges = self.area.get_by_role("group", name=re.compile("^Edge from "))
        self.saved = page.get_by_test_id("save-state").filter(has_text=re.compile("^Saved$"))

    # ------------------------------------------------------------------ with the mouse
    def drag_in(self, title: str, *, to: tuple[int, int]) -> None:
        """From the library to a place on the canvas, in pixels from its corner."""
        item = self.library.get_by_role("button", name=re.compile(f"^{re.escape(title)} "))
        item.drag_to(self.area, target_position={"x": to[0], "y": to[1]})

    def connect(self, source: str, target: str, *, port: str = "out") -> None:
        here = self.step(source).locator(f'.react-flow__handle.source[data-handleid="{port}"]')
        there = self.step(target).locator(".react-flow__handle.target")
        before = self.edges.count()
        self.drag(_middle(here), _middle(there))
        expect(self.edges).to_have_count(before + 1)

    def drag(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        """As a hand does: press, move in steps, release."""
        mouse = self.page.mouse
        mouse.move(*start)
        mouse.down()
        mouse.move((start[0] + end[0]) / 2, (start[1] + end[1]) / 2, steps=4)
        mouse.move(*end, steps=4)
        mouse.up()

    def move(self, key: str, *, to: tuple[int, int]) -> None:
        """Its middle to a place on the canvas, in pixels from the corner."""
        corner = _box(self.area)
        self.drag(_middle(self.step(key)), (corner["x"] + to[0], corner["y"] + to[1]))

    def middle_of_edge(self, number: int) -> tuple[int, int]:
        """Of the edge that was drawn as the nth, where its line can be seen; in pixels from the canvas' corner."""
        corner = _box(self.area)
        x, y = self.edges.nth(number - 1).locator("path").first.evaluate(MIDDLE_OF_LINE)
        return round(x - corner["x"]), round(y - corner["y"])

    def fit(self) -> None:
        self.area.get_by_role("button", name="Fit into the view").click()

    def open_step(self, key: str) -> Locator:
        self.step(key).click()
        expect(self.panel.get_by_label("Key", exact=True)).to_have_value(key)
        return self.panel

    # ------------------------------------------------------------------ its settings
    def field(self, name: str) -> Locator:
        return self.panel.get_by_role("textbox", name=name, exact=True)

    def write(self, field: str, text: str) -> None:
        """Typed key by key, as the editor of expressions closes what '{{' opens."""
        self.field(field).click()
        self.page.keyboard.press("Control+a")
        self.page.keyboard.press("Delete")
        type_expressions(self.page, text)

    # ------------------------------------------------------------------ what to do with it
    def expect_saved(self) -> None:
        expect(self.saved).to_be_visible()

    def publish(self, *, version: int) -> None:
        self.page.get_by_role("button", name="Publish", exact=True).click()
        self.page.get_by_role("button", name=f"Publish version {version}").click()
        expect(self.page.get_by_text(f"Version {version} is live")).to_be_visible()

    def run(self, run_input: str, *, version: int) -> None:
        self.page.get_by_role("button", name="Run", exact=True).click()
        dialog = self.page.get_by_role("dialog")
        dialog.get_by_role("textbox", name="Input").click()
        self.page.keyboard.insert_text(run_input)
        dialog.get_by_role("button", name=f"Run version {version}").click()


class RunPage(Steps):
    def __init__(self, page: Page) -> None:
        super().__init__(page)
        self.title = page.get_by_role("heading", name=re.compile(r"^Run \d+$"))
        self.sentence = page.get_by_test_id("head-sentence")
        self.plan = page.get_by_role("region", name="Plan of the resume")
        self.events = page.get_by_role("table", name=re.compile("^Events of the run"))

    @property
    def run_id(self) -> str:
        found = re.search(r"/runs/([0-9a-f-]{36})", self.page.url)
        assert found, self.page.url
        return found[1]

    def expect_status(self, status: str) -> None:
        expect(self.title.locator("..").get_by_text(status, exact=True)).to_be_visible(timeout=SLOW_MS)

    def expect_step(self, key: str, word: str) -> None:
        expect(self.step(key).get_by_text(word, exact=True)).to_be_visible(timeout=SLOW_MS)

    def fit(self) -> None:
        self.page.get_by_role("button", name="Fit View").click()

    def show(self, view: str) -> None:
        self.page.get_by_role("radiogroup", name="View of the run").get_by_text(view, exact=True).click()

    def panel(self, name: str) -> Locator:
        return self.page.get_by_role("complementary", name=f"Step {name}")

    def open_step(self, key: str, *, name: str) -> Locator:
        self.step(key).click()
        expect(self.panel(name)).to_be_visible()
        return self.panel(name)

    def resume_by_plan(self, name: str) -> None:
        """The head's button opens the plan, the plan's button resumes."""
        self.page.get_by_role("button", name=f"Resume from {name}").first.click()
        expect(self.plan).to_be_visible()
        self.plan.get_by_role("button", name=f"Resume from {name}").click()
        expect(self.plan).to_be_hidden()

    def numbers_of_events(self) -> list[int]:
        """As the Events tab shows them, newest first."""
        return [int(text) for text in self.events.get_by_role("row").locator("td:first-child").all_inner_texts()]


class Moves:
    """When the screen showed each state of each step, in the clock that the server's events have."""

    def __init__(self, page: Page) -> None:
        self._page = page
        page.evaluate(WATCH)

    def seen(self) -> dict[tuple[str, str], float]:
        rows: list[dict[str, Any]] = self._page.evaluate("() => window.moves")
        first: dict[tuple[str, str], float] = {}
        for row in rows:
            first.setdefault((row["key"], row["status"]), row["at"] / 1000)
        return first


# React draws a state as the attribute of a step's card: the watcher notes the moment at which it changes.
WATCH = """
() => {
  window.moves = [];
  const note = (card) => {
    const step = card.closest('.react-flow__node');
    const key = /key (\\w+)/.exec(step?.getAttribute('aria-label') ?? '')?.[1];
    if (key) window.moves.push({ key, status: card.dataset.status, at: Date.now() });
  };
  new MutationObserver((changes) => {
    for (const { target } of changes) if (target.parentElement?.matches('.react-flow__node')) note(target);
  }).observe(document.body, { subtree: true, attributes: true, attributeFilter: ['data-status'] });
}
"""


MIDDLE_OF_LINE = """
(line) => {
  const at = line.getPointAtLength(line.getTotalLength() / 2).matrixTransform(line.getScreenCTM());
  return [at.x, at.y];
}
"""


class Keyboard:
    """Hands that never leave the keyboard: what they type goes where the focus is."""

    def __init__(self, page: Page) -> None:
        self._page = page

    def press(self, key: str) -> None:
        self._page.keyboard.press(key)

    def type(self, text: str) -> None:
        type_expressions(self._page, text)

    def paste(self, text: str) -> None:
        self._page.keyboard.insert_text(text)

    def go_to(self, locator: Locator, *, by: str = "Tab", at_most: int = 40) -> None:
        """Presses Tab until it is there; fails where the keyboard cannot reach it."""
        expect(locator).to_be_visible()
        for _ in range(at_most):
            if locator.evaluate("(element) => element === document.activeElement"):
                return
            self.press(by)
        raise AssertionError(f"{at_most} times {by} did not lead to {locator}")


def type_expressions(page: Page, text: str) -> None:
    """Text with {{ expressions }}: the editor closes the braces and puts the cursor between them."""
    for part in re.split(r"(\{\{.*?\}\})", text):
        if part.startswith("{{"):
            page.keyboard.type("{{" + part[2:-2].strip())
            page.keyboard.press("Escape")  # the list of completions
            page.keyboard.press("End")
        else:
            page.keyboard.type(part)


def _box(locator: Locator) -> FloatRect:
    box = locator.bounding_box()
    assert box is not None, locator
    return box


def _middle(locator: Locator) -> tuple[float, float]:
    box = _box(locator)
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
