"""The crash demo: a run whose worker is killed at step 8; a run whose step 8 fails, is mended, and is resumed."""

import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sample.crash.clients import DemoProblem, PawlClient, Row, SampleClient
from sample.crash.compare import CRASHED, REVIEW, RunFacts
from sample.crash.facts import read_facts
from sample.crash.launches import Launch, LaunchLog
from sample.crash.stack import Stack, kill_hard, worker_of
from sample.graphs import INVOICES_NAME
from sample.orders import REVIEWER_CORRECTIONS
from sample.web import BATCH

READ_LIMIT_S = 240.0  # twelve documents, on the slowest machine that we know
STEP_LIMIT_S = 60.0
SLOW_S = 20.0  # longer than any kill takes: the policy service must not answer before it
POLL_S = 0.1
FINAL = frozenset({"succeeded", "failed", "cancelled"})


@dataclass
class Demo:
    stack: Stack
    pawl: PawlClient
    sample: SampleClient
    launches: LaunchLog
    say: Callable[[str], None]

    def automatic(self) -> RunFacts:
        """A worker dies during step 8; nobody does anything."""
        self.sample.steer("slow", slow_s=SLOW_S)
        run = self._start()
        self._approve(run)
        launch = self.stack.until("step 8 to begin", lambda: self._begun(run), limit_s=STEP_LIMIT_S)
        self._await_arrival(run)
        worker = worker_of(launch.pid)
        broke_at = time.time()
        kill_hard(worker)
        self.say(f"Killed worker process {worker} in the middle of step 8 (kill -9)")
        self.sample.steer("slow", slow_s=0)
        self._await_end(run, "succeeded")
        return read_facts(self.pawl, self.launches, run, broke_at=broke_at)

    def resumed(self) -> RunFacts:
        """The policy service is out of order; the run fails at step 8; it is mended, and the run resumed."""
        self.sample.steer("break", status=503)
        run = self._start()
        self._approve(run)
        failed = self._await_end(run, "failed")
        self.say("Step 8 failed: the policy service answered 503")
        self.sample.steer("mend")
        preview = self.pawl.post(f"/runs/{run}/preview", {"operation": "resume"})
        if not preview["allowed"]:
            raise DemoProblem(f"Resume is refused: {preview['refusal']}")
        self.say(f"Mended it; resuming: {len(preview['kept'])} steps are kept, {len(preview['again'])} run again")
        broke_at = time.time()
        self.pawl.command(f"/runs/{run}/resume", generation=failed["generation"])
        self._await_end(run, "succeeded")
        return read_facts(self.pawl, self.launches, run, broke_at=broke_at)

    def payments_of(self, run: str) -> str:
        return self.sample.stored(f"payments/{BATCH}/{run}.csv")

    # ------------------------------------------------------------------ one thing after the other
    def _start(self) -> str:
        workflow = next(row for row in self.pawl.everything("/workflows") if row["name"] == INVOICES_NAME)
        started = self.pawl.post(
            f"/workflows/{workflow['id']}/runs", {"input": {"batch": BATCH}, "idempotency_key": str(uuid.uuid4())}
        )
        self.say(f"Started run {started['number']} of '{INVOICES_NAME}' through the API")
        return str(started["id"])

    def _approve(self, run: str) -> None:
        wait = self.stack.until(
            "the review to be asked for", lambda: self._open_review(run), limit_s=READ_LIMIT_S, every_s=POLL_S
        )
        answer: Row = {
            "decision": "approved",
            "comment": "Corrected by the demo's reviewer.",
            "data": {"corrections": REVIEWER_CORRECTIONS},
        }
        self.pawl.command(f"/waits/{wait['id']}/answer", **answer)
        self.say("Twelve documents are read; approved the review through the API")

    def _open_review(self, run: str) -> Row | None:
        status = self._run(run)["status"]
        if status in FINAL:
            raise DemoProblem(f"The run {status} before its review: {self._errors(run)}")
        waits = self.pawl.everything("/waits", kind="approval")
        return next((row for row in waits if row["run"]["id"] == run and row["path"] == REVIEW), None)

    def _begun(self, run: str) -> Launch | None:
        return self.launches.find(run, CRASHED, attempt=1)

    def _await_arrival(self, run: str) -> None:
        """The body has begun in earnest once the policy service has its request."""
        key = self.pawl.get(f"/runs/{run}/steps/{CRASHED}")["step"]["idempotency_key"]
        self.stack.until("the policy service to be asked", lambda: self.sample.arrivals()[key], limit_s=STEP_LIMIT_S)

    def _await_end(self, run: str, wanted: str) -> Row:
        def ended() -> Row | None:
            found = self._run(run)
            return found if found["status"] in FINAL else None

        found = self.stack.until(f"the run to end as {wanted}", ended, limit_s=READ_LIMIT_S, every_s=POLL_S)
        if found["status"] != wanted:
            raise DemoProblem(f"The run ended as {found['status']}, not {wanted}: {self._errors(run)}")
        return found

    def _run(self, run: str) -> Row:
        found: Row = self.pawl.get(f"/runs/{run}")["run"]
        return found

    def _errors(self, run: str) -> list[Any]:
        steps = self.pawl.get(f"/runs/{run}")["steps"]
        return [{"path": step["path"], "error": step["error"]} for step in steps if step["error"]]
