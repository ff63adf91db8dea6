"""manage.py crash_demo: kill -9 the worker at step 8 of 12, and watch the run go on; fail step 8, mend, and resume.

Run by `make crash-demo` on servers and a state folder of its own.
"""

import json
import logging
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError

from config import env
from sample.crash.clients import DemoProblem, PawlClient, SampleClient
from sample.crash.compare import RunFacts, arrival_differences
from sample.crash.demo import STEP_LIMIT_S, Demo
from sample.crash.launches import LaunchLog
from sample.crash.report import findings, summary, table
from sample.crash.stack import Stack
from sample.settings import DEMO_EMAIL, DEMO_WORKSPACE, http_address, sample_state


class Command(BaseCommand):
    help = "Kill a worker in the middle of the sample's run, and show that nothing finished runs again."

    def handle(self, *args: Any, **options: Any) -> None:
        logging.getLogger("httpx").setLevel(logging.WARNING)  # a line for each question that we ask while we wait
        logs = Path(settings.STATE_DIR) / "logs"
        logs.mkdir(parents=True, exist_ok=True)
        launch_file = logs / "launches.log"
        launch_file.unlink(missing_ok=True)
        call_command("prepare", stdout=self.stderr)
        launches = LaunchLog(launch_file)
        environment = env.for_children(PAWL_LAUNCH_LOG=str(launch_file))
        try:
            with Stack(logs=logs, environment=environment, say=self._say) as stack:
                demo = self._demo(stack, launches)
                auto, resumed = demo.automatic(), demo.resumed()
                problems = self._problems(demo, auto, resumed)
        except DemoProblem as problem:
            raise CommandError(str(problem)) from problem
        finally:
            launches.stop()
        self._show(auto, resumed, problems)

    def _demo(self, stack: Stack, launches: LaunchLog) -> Demo:
        pawl = PawlClient(stack.url, workspace=DEMO_WORKSPACE)
        sample = SampleClient(f"http://{http_address()}", token=sample_state().token)
        stack.until("Pawl and the sample to answer", lambda: pawl.is_up() and sample.is_up(), limit_s=STEP_LIMIT_S)
        pawl.sign_in(DEMO_EMAIL, settings.DEMO_PASSWORD)
        self._say(f"All processes run; Pawl answers at {stack.url}")
        return Demo(stack, pawl, sample, launches, self._say)

    def _problems(self, demo: Demo, *runs: RunFacts) -> list[str]:
        arrivals = demo.sample.arrivals()  # first: what we fetch ourselves below arrives there as well
        steps = [step for facts in runs for step in facts.steps]
        found = [problem for facts in runs for problem in findings(facts, demo.payments_of(facts.run))]
        return [*found, *arrival_differences(steps, arrivals)]

    def _show(self, auto: RunFacts, resumed: RunFacts, problems: list[str]) -> None:
        for title, facts in (("Worker killed at step 8", auto), ("Step 8 failed, mended, resumed", resumed)):
            self.stdout.write(f"\n{title} (run {facts.run}: {facts.status})\n{table(facts)}\n")
        for problem in problems:
            self.stderr.write(f"DIFFERS: {problem}")
        if not problems:
            self.stdout.write("\nPawl's tables, the launcher's lines and the sample's servers tell the same.\n")
        self.stdout.write(json.dumps({"auto": summary(auto), "resume": summary(resumed)}))
        self.stdout.flush()
        if problems:
            raise SystemExit(1)

    def _say(self, text: str) -> None:
        self.stderr.write(f"==> {text}")
