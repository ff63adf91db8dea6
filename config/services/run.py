"""`make run`: everything that Pawl needs on one machine, started in order, kept running, and stopped in order."""

import os
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import NoReturn

from config.services import processes
from config.services.errors import ServiceProblem
from config.services.house import REPOSITORY, House, Say, joined
from config.services.ports import LOOPBACK
from config.services.signals import StopRequested, ignore_signals, stop_on_signals
from config.services.supervisor import Program, Supervisor, last_words

# What `dramatiq` imports: the first sets Django up and chooses the broker, the second has our actors.
DRAMATIQ_MODULES = ("django_dramatiq.setup", "runs.actors")
WORKER_MASTERS = 2  # one dead process ends its whole master: the other goes on meanwhile
WORKER_THREADS = 4
DRAIN_MS = 2_000  # Ctrl-C ends everything within 5 s
DEMO_EMAIL = "demo@pawl.local"
_WEB_LIMIT_S = 60.0
_WEB_TRIES = 3


def run(state: Path, *, say: Say) -> int:
    stop_on_signals()
    started = time.monotonic()
    supervisor: Supervisor | None = None
    try:
        with House(state, say=say, given=dict(os.environ)) as house:
            try:
                environment = with_sample(house)
                _prepare({**environment, **demo_account(house)}, say=say)
                web = house.take_port("web")
                environment.setdefault("PAWL_PUBLIC_URL", f"http://{LOOPBACK}:{web}")
                supervisor = Supervisor(programs(environment, web=web), logs=house.state / "logs", say=say)
                _wait_for_web(supervisor, port=web)
                sample = environment["PAWL_SAMPLE_HTTP"]
                took_s = time.monotonic() - started
                _welcome(say, port=web, sample=sample, password=house.keys.get("demo"), took_s=took_s)
                _watch(supervisor, house)
            finally:
                ignore_signals()  # a second Ctrl-C must not leave half of it running
                if supervisor is not None:
                    supervisor.stop()
    except StopRequested:
        say("Stopped.")
        return 0


def programs(environment: dict[str, str], *, web: int) -> list[Program]:
    """Every process of Pawl on this machine."""
    python = sys.executable

    def program(name: str, *command: str, **more: str) -> Program:
        return Program(name, (python, *command), env={**environment, **more}, cwd=REPOSITORY)

    daphne = ("-m", "daphne", "-b", LOOPBACK, "-p", str(web), "--application-close-timeout", "1", "-v", "0")
    dramatiq = (
        "-m",
        "dramatiq",
        "--processes",
        "1",
        "--threads",
        str(WORKER_THREADS),
        "--worker-shutdown-timeout",
        str(DRAIN_MS),
    )
    # Fetched ahead, a short task would wait behind a long one.
    threads = {
        "dramatiq_queue_prefetch": str(WORKER_THREADS),
        "PAWL_WORKER_THREADS": str(WORKER_THREADS),
        "PAWL_DRAIN_MS": str(DRAIN_MS),
    }
    found = [program("web", *daphne, "config.asgi:application")]
    found += [
        program(f"worker-{number}", *dramatiq, *DRAMATIQ_MODULES, **threads) for number in range(1, WORKER_MASTERS + 1)
    ]
    return [*found, program("sweeper", "manage.py", "sweeper"), program("sample", "manage.py", "sample_services")]


def demo_account(house: House) -> dict[str, str]:
    """For the command that seeds the demo; no process that serves gets it."""
    return {"PAWL_DEMO_EMAIL": DEMO_EMAIL, "PAWL_DEMO_PASSWORD": house.keys.get("demo")}


def with_sample(house: House) -> dict[str, str]:
    """The addresses of the sample's own API and mailbox, which steps may reach although they are private."""
    http = f"{LOOPBACK}:{house.take_port('sample_http')}"
    smtp = f"{LOOPBACK}:{house.take_port('sample_smtp')}"
    allow = joined(house.environment.get("PAWL_OUTBOUND_ALLOW", ""), http, smtp)
    return {**house.environment, "PAWL_SAMPLE_HTTP": http, "PAWL_SAMPLE_SMTP": smtp, "PAWL_OUTBOUND_ALLOW": allow}


def _prepare(environment: dict[str, str], *, say: Say) -> None:
    """In one process: each start of Django costs a second."""
    say("Migrations, demo workspace, static files")
    child = processes.launch([sys.executable, "manage.py", "prepare"], env=environment, cwd=REPOSITORY)
    try:
        code = child.wait()
    except BaseException:
        processes.stop(child, grace_s=1.0)
        raise
    if code != 0:
        raise ServiceProblem(
            "That failed; its words are above. If the data is older than the code, `make clean` drops the demo's data."
        )


def _wait_for_web(supervisor: Supervisor, *, port: int) -> None:
    deadline = time.monotonic() + _WEB_LIMIT_S
    while time.monotonic() < deadline and supervisor.ends("web") < _WEB_TRIES:
        supervisor.look()
        if _answers(port):
            return
        time.sleep(0.05)
    log = supervisor.log("web")
    raise ServiceProblem(f"The web process does not answer. Its log {log} ends with:\n{last_words(log, lines=15)}")


def _answers(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://{LOOPBACK}:{port}/api/health", timeout=5):
            return True
    except urllib.error.HTTPError:
        return True  # it answers; what it answers is for the health page to tell
    except OSError:
        return False


def _welcome(say: Say, *, port: int, sample: str, password: str, took_s: float) -> None:
    say(
        f"Ready after {took_s:.1f} s. Ctrl-C stops everything.\n\n"
        f"    Pawl      http://{LOOPBACK}:{port}/\n"
        f"    e-mail    {DEMO_EMAIL}\n"
        f"    password  {password}\n"
        f"    sample    http://{sample}/  (the API of 'Supplier invoices')\n"
    )


def _watch(supervisor: Supervisor, house: House) -> NoReturn:
    while True:
        house.keep_servers_alive()
        supervisor.look()
        time.sleep(0.05)
