"""What a browser loads and draws: the weight of the built chunks, and frames while a large canvas is panned."""

import gzip
import json
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from django.conf import settings
from playwright.sync_api import Page, sync_playwright

from builder.graph.model import Graph
from builder.workflows.models import Version
from tests.bench.stack import Bench, BenchProblem
from tests.bench.workflows import SLUG
from tests.graphs import draw

DIST = Path(settings.BASE_DIR) / "frontend" / "dist"
ENTRY, CANVAS = "src/app/main.tsx", "src/features/canvas/CanvasPage.tsx"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = ["--no-sandbox", "--disable-background-networking", "--disable-component-update", "--no-first-run"]
NODES, COLUMNS = 500, 25
PATIENCE_MS = 30_000
SWEEPS = 6

COUNT_FRAMES = """() => {
  window.benchFrames = [];
  const note = (now) => { window.benchFrames.push(now); window.benchNext = requestAnimationFrame(note); };
  window.benchNext = requestAnimationFrame(note);
}"""
TAKE_FRAMES = "() => { cancelAnimationFrame(window.benchNext); return window.benchFrames; }"


def sizes_kb() -> tuple[float, float]:
    """(first load, what the canvas adds), gzipped: scripts, what they import at once, and their styles."""
    path = DIST / "manifest.json"
    if not path.is_file():
        raise BenchProblem(f"{path} is missing: `make frontend` builds it.")
    chunks: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    shell = _files(chunks, ENTRY)
    return _weight(shell), _weight(_files(chunks, CANVAS) - shell)


def _files(chunks: Mapping[str, Any], name: str, seen: frozenset[str] = frozenset()) -> set[str]:
    if name in seen:
        return set()
    found = {chunks[name]["file"], *chunks[name].get("css", [])}
    for other in chunks[name].get("imports", []):
        found |= _files(chunks, other, seen | {name})
    return found


def _weight(files: set[str]) -> float:
    return sum(len(gzip.compress((DIST / name).read_bytes())) for name in files) / 1000


def large_graph() -> Graph:
    """500 steps in rows of 25, each row a chain, all visible at once."""
    names = [f"n{number}" for number in range(NODES - 1)]
    rows = [names[at : at + COLUMNS] for at in range(0, len(names), COLUMNS)]
    graph = draw("\n".join(" > ".join(["S", *row]) for row in rows), plain="pass_through")
    places = [(0.0, 0.0), *((280.0 * (at % COLUMNS + 1), 140.0 * (at // COLUMNS)) for at in range(NODES - 1))]
    nodes = (replace(node, position=place) for node, place in zip(graph.nodes, places, strict=True))
    return replace(graph, nodes=tuple(nodes))


def measure_frames(bench: Bench, version: Version) -> float:
    """Mean milliseconds a frame while the signed-in canvas is dragged about with the middle button."""
    chromium = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if chromium is None:
        raise BenchProblem("There is no Chromium on this machine: apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        context = browser.new_context(viewport={"width": 1400, "height": 900}, base_url=bench.stack.url)
        context.add_cookies(
            [
                {"name": one.name, "value": str(one.value), "url": bench.stack.url}
                for one in bench.client._http.cookies.jar
            ]
        )
        try:
            page = context.new_page()
            page.goto(f"/w/{SLUG}/workflows/{version.workflow_id}")
            page.locator(".react-flow__node").first.wait_for(timeout=PATIENCE_MS)
            page.wait_for_timeout(1000)
            return _pan(page)
        finally:
            browser.close()


def _pan(page: Page) -> float:
    box = page.locator(".react-flow__pane").bounding_box()
    assert box is not None
    middle, height = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(middle, height)
    page.mouse.down(button="middle")
    before = page.locator(".react-flow__viewport").get_attribute("style")
    page.evaluate(COUNT_FRAMES)
    for sweep in range(SWEEPS):
        reach = 200 if sweep % 2 else -200
        page.mouse.move(middle + reach, height + reach / 2, steps=30)
    after = page.locator(".react-flow__viewport").get_attribute("style")
    frames: list[float] = page.evaluate(TAKE_FRAMES)
    page.mouse.up(button="middle")
    if before == after:
        raise BenchProblem("The canvas did not move when it was dragged: there is nothing to measure.")
    return (frames[-1] - frames[0]) / (len(frames) - 1)
