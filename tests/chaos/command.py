"""One chaos job: everything up, faults by the plan, calm, and the verdict. Django's settings are there by now."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace

import django

from config.services.house import House
from config.services.ports import LOOPBACK, free_port
from config.services.run import programs
from config.services.supervisor import Program, Supervisor
from tests.chaos.plan import plan_of

Say = Callable[[str], None]

SWEEPERS = 2


def run(house: House, *, seed: int, duration_s: float, say: Say) -> int:
    """Answers the exit code; the last line of the standard output is the verdict."""
    django.setup()
    logging.getLogger("httpx").setLevel(logging.WARNING)
    from tests.chaos.job import Job  # here: it imports models

    logs = house.state / "logs"
    logs.mkdir(parents=True, exist_ok=True)
    port = free_port()
    environment = {
        **house.environment, "PAWL_EXTRA_STEPS": "tests.chaos.kinds", "PAWL_LOG_LEVEL": "WARNING",
        "PAWL_LAUNCH_LOG": str(logs / "launches"),
    }  # fmt: skip
    kept = _programs(environment, web=port)
    supervisor = Supervisor(kept, logs=logs, say=lambda text: None)
    try:
        names, url = [each.name for each in kept], f"http://{LOOPBACK}:{port}"
        job = Job(house, supervisor, names=names, url=url, seed=seed, say=say)
        job.open()
        job.wait_until_up()
        for strike in (plan := plan_of(seed, duration_s=duration_s)):
            say(str(strike))
        job.rage(plan, duration_s=duration_s)
        job.calm()
    finally:
        supervisor.stop()
    verdict = job.judge()
    for reason in verdict.reasons():
        say(reason)
    print(verdict.line(), flush=True)
    return 0 if verdict.is_good else 1


def _programs(environment: dict[str, str], *, web: int) -> Sequence[Program]:
    found = [each for each in programs(environment, web=web) if each.name != "sample"]
    sweeper = next(each for each in found if each.name == "sweeper")
    return [*found, *(replace(sweeper, name=f"sweeper-{number}") for number in range(2, SWEEPERS + 1))]
