"""The pictures of README and docs: the sample, run, broken, mended and resumed in a real Pawl, in both themes."""

import logging
import shutil
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from playwright.sync_api import Browser, expect, sync_playwright

from config import env
from sample.crash.clients import SampleClient
from sample.crash.stack import Stack
from sample.graphs import AGENTS_NAME, INVOICES_NAME
from sample.orders import REVIEWER_CORRECTIONS
from sample.settings import DEMO_EMAIL, DEMO_WORKSPACE, http_address, sample_state
from sample.web import BATCH
from tests.e2e.api import FINAL, Api
from tests.e2e.browser import FLAGS, find_chromium
from tests.e2e.pages import Pawl

THEMES = ("light", "dark")
READ_LIMIT_S = 240.0  # twelve documents, on the slowest machine that we know
STEP_LIMIT_S = 60.0
BROKEN = "8 Compliance check"

Say = Callable[[str], None]


@dataclass
class Studio:
    stack: Stack
    api: Api
    sample: SampleClient
    browser: Browser
    folder: Path
    say: Say

    def take(self, name: str, show: Callable[[Pawl], Any]) -> None:
        for theme in THEMES:
            context = self.browser.new_context(
                base_url=self.stack.url,
                color_scheme=theme,  # type: ignore[arg-type]
                reduced_motion="reduce",
                viewport={"width": 1440, "height": 820},
            )
            context.set_default_timeout(1000 * STEP_LIMIT_S)
            context.add_cookies(self.api.cookies())
            pawl = Pawl(context.new_page(), workspace=DEMO_WORKSPACE)
            show(pawl)
            expect(pawl.connection).to_have_text("live")
            pawl.page.evaluate("document.fonts.ready")
            path = self.folder / f"{name}-{theme}.png"
            pawl.page.screenshot(path=str(path), animations="disabled")
            self.say(f"{path.name}: {path.stat().st_size // 1024} kB")
            context.close()

    def run_invoices(self) -> str:
        """Up to the review, which is approved with the corrections that the documents need."""
        run = self._start(INVOICES_NAME, batch=BATCH)
        wait = self.stack.until("the review", lambda: self._review_of(run), limit_s=READ_LIMIT_S, every_s=0.2)
        self.api.command(
            f"/waits/{wait['id']}/answer",
            decision="approved",
            comment="Corrected two amounts.",
            data={"corrections": REVIEWER_CORRECTIONS},
        )
        return run

    def await_end(self, run: str, status: str) -> None:
        def ended() -> str | None:
            found = str(self.api.get(f"/runs/{run}")["run"]["status"])
            return found if found in FINAL else None

        found = self.stack.until(f"a run to end as {status}", ended, limit_s=STEP_LIMIT_S, every_s=0.2)
        assert found == status, f"the run ended as {found}, not {status}"

    def start_agents(self) -> str:
        return self._start(AGENTS_NAME, wish="A page that shows when the next train leaves")

    def _start(self, name: str, **run_input: Any) -> str:
        workflow = self.api.workflow_named(name)
        started = self.api.post(
            f"/workflows/{workflow}/runs", {"input": run_input, "idempotency_key": str(uuid.uuid4())}
        )
        self.say(f"Run {started['number']} of '{name}'")
        return str(started["id"])

    def _review_of(self, run: str) -> Any:
        waits = self.api.everything("/waits", kind="approval")
        return next((row for row in waits if row["run"]["id"] == run), None)


def take_all(*, folder: Path, say: Say) -> None:
    logging.getLogger("httpx").setLevel(logging.WARNING)
    call_command("prepare")
    logs = Path(settings.STATE_DIR) / "logs"
    with Stack(logs=logs, environment=env.for_children(), say=say) as stack, _studio(stack, folder, say) as studio:
        _session(studio)


@contextmanager
def _studio(stack: Stack, folder: Path, say: Say) -> Iterator[Studio]:
    api = Api(stack.url, workspace=DEMO_WORKSPACE)
    sample = SampleClient(f"http://{http_address()}", token=sample_state().token)
    stack.until("Pawl and the sample", lambda: api.is_up() and sample.is_up(), limit_s=STEP_LIMIT_S)
    api.sign_in(DEMO_EMAIL, settings.DEMO_PASSWORD)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=FLAGS)
        yield Studio(stack, api, sample, browser, folder, say)
        browser.close()


def _session(studio: Studio) -> None:
    studio.start_agents()
    studio.await_end(studio.run_invoices(), "succeeded")
    studio.sample.steer("break", status=503)
    run = studio.run_invoices()
    studio.await_end(run, "failed")
    studio.take("canvas", _show_canvas(studio))
    studio.take("run-failed", _show_failed(run))
    studio.take("runs", _show_runs)
    studio.take("resume-plan", _show_plan(run))
    studio.sample.steer("mend")
    generation = studio.api.get(f"/runs/{run}")["run"]["generation"]
    studio.api.command(f"/runs/{run}/resume", generation=generation)
    studio.await_end(run, "succeeded")
    studio.take("run-resumed", _show_resumed(run))
    studio.take("timeline", _show_timeline(run))


def _show_canvas(studio: Studio) -> Callable[[Pawl], None]:
    workflow = studio.api.workflow_named(INVOICES_NAME)

    def show(pawl: Pawl) -> None:
        canvas = pawl.open_workflow(workflow, name=INVOICES_NAME)
        canvas.open_step("compliance")
        canvas.expect_saved()

    return show


def _show_failed(run: str) -> Callable[[Pawl], None]:
    def show(pawl: Pawl) -> None:
        shown = pawl.open_run(run)
        shown.expect_step("compliance", "failed")
        panel = shown.open_step("compliance", name=BROKEN)
        expect(panel.get_by_role("region", name="Error")).to_be_visible()
        shown.fit()

    return show


def _show_plan(run: str) -> Callable[[Pawl], None]:
    def show(pawl: Pawl) -> None:
        shown = pawl.open_run(run)
        pawl.page.get_by_role("button", name=f"Resume from {BROKEN}").first.click()
        expect(shown.plan).to_contain_text("Keeps")

    return show


def _show_resumed(run: str) -> Callable[[Pawl], None]:
    def show(pawl: Pawl) -> None:
        shown = pawl.open_run(run)
        shown.expect_status("succeeded")
        panel = shown.open_step("compliance", name=BROKEN)
        expect(panel).to_contain_text("verdict")
        shown.fit()

    return show


def _show_timeline(run: str) -> Callable[[Pawl], None]:
    def show(pawl: Pawl) -> None:
        pawl.open_run(run, view="timeline")
        expect(pawl.page.get_by_label("Timeline of the run")).to_contain_text(BROKEN)

    return show


def _show_runs(pawl: Pawl) -> None:
    pawl.go("runs")
    expect(pawl.page.get_by_role("table", name="Runs")).to_contain_text("compliance")
