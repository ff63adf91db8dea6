"""One run of the bench: servers, counts, the stack, every measure in its turn, the report."""

import logging
import time
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command

from config import env
from sample.crash.clients import PawlClient
from tests.bench import counts, floors, front, live, processes, report, scale, speed
from tests.bench.stack import Bench, Stack, connect
from tests.bench.workflows import SLUG, STEPS, Workshop, chain, fan_out, open_workshop, publish
from tests.engine import World

PARTS = (
    "chains",
    "many",
    "fanout",
    "first",
    "live",
    "memory",
    "recovery",
    "sizes",
    "frames",
    "wide",
    "waiting",
    "claims",
)
REST_S = 2.0  # before memory is read, and between the loud measures

Say = Callable[[str], None]


def run(*, parts: Collection[str], say: Say) -> dict[str, float | None]:
    logging.getLogger("httpx").setLevel(logging.WARNING)
    floors.assert_durable()
    call_command("migrate", interactive=False, verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)
    found: dict[str, float | None] = dict.fromkeys(report.FIGURES)
    workshop = open_workshop()
    _count(found, workshop, say=say)
    logs = Path(settings.STATE_DIR) / "logs"
    environment = env.for_children(PAWL_EXTRA_STEPS="tests.bench.kinds", PAWL_LOG_LEVEL="WARNING")
    with Stack(logs=logs, environment=environment, say=say) as stack, connect() as database:
        client = PawlClient(stack.url, workspace=SLUG)
        stack.until("Pawl to answer", client.is_up)
        stack.until("two workers", lambda: _workers(database) == 2)
        client.sign_in(workshop.user.email, workshop.password)
        _measure(found, Bench(stack, client, database), workshop, parts=parts, say=say)
    return found


def _count(found: dict[str, float | None], workshop: Workshop, *, say: Say) -> None:
    say("Counting round trips and commits on the wire, in this process")
    with World(workspace=workshop.workspace) as world:
        counted = counts.count_chain(world)
        world.connection.execute("UPDATE runs_worker SET dead_at = now()")  # ours; the real ones come now
    found["round_trips_per_step"] = counted.round_trips_per_step
    found["commits_per_step"] = counted.commits_per_step
    say(f"A step writes {counted.bytes_per_step} bytes of log; floors of this machine")
    found["floor_commit_ms"] = floors.floor_commit_ms(counted.bytes_per_step)
    found["floor_queue_ms"] = floors.floor_queue_ms()


def _workers(database: Any) -> int:
    row = database.execute("SELECT count(*) FROM runs_worker WHERE dead_at IS NULL").fetchone()
    return int(row[0])


def _measure(
    found: dict[str, float | None], bench: Bench, workshop: Workshop, *, parts: Collection[str], say: Say
) -> None:
    version = publish(workshop.workspace, "Chain of 12", chain())
    say("Warming up: every thread gets its child")
    speed.measure_many(bench, version)
    for part in (part for part in PARTS if part in parts):
        began = time.monotonic()
        MEASURES[part](found, bench, workshop)
        say(f"{part}: {time.monotonic() - began:.1f} s")


def _chains(found: dict[str, float | None], bench: Bench, workshop: Workshop) -> None:
    chains = speed.measure_chains(bench, publish(workshop.workspace, "Chains", chain()))
    found["chain12_ms_p50"], found["chain12_ms_p95"], found["step_ms_p50"] = chains.p50, chains.p95, chains.step_p50


def _many(found: dict[str, float | None], bench: Bench, workshop: Workshop) -> None:
    version = publish(workshop.workspace, "Many chains", chain())
    began, busy, before = time.monotonic(), processes.busy_s(), processes.cpu_s()
    found["steps_per_s"] = speed.measure_many(bench, version)
    spent = processes.cpu_s() - before
    others = processes.busy_s() - busy - sum(spent.values())
    found[report.FOREIGN] = max(0.0, others) / (time.monotonic() - began)
    for kind, seconds in spent.items():
        found[report.PROCESSOR + kind] = 1e6 * seconds / (speed.AT_ONCE * STEPS)


def _fan_out(found: dict[str, float | None], bench: Bench, workshop: Workshop) -> None:
    found["fanout100_ms"] = speed.measure_fan_out(bench, publish(workshop.workspace, "Map of 100", fan_out()))


def _first(found: dict[str, float | None], bench: Bench, workshop: Workshop) -> None:
    version = publish(workshop.workspace, "Clock", chain("bench_clock", steps=1))
    found["first_step_ms_p95"] = speed.measure_first(bench, version)


def _memory(found: dict[str, float | None], bench: Bench, workshop: Workshop) -> None:
    time.sleep(REST_S)
    found["rss_mb_idle"], found[report.SHARED_ONCE] = processes.memory_mb()


def _recovery(found: dict[str, float | None], bench: Bench, workshop: Workshop) -> None:
    version = publish(workshop.workspace, "Hang", chain("bench_hang", steps=1))
    found["recovery_s"] = processes.measure_recovery(bench, version)


def _live(found: dict[str, float | None], bench: Bench, workshop: Workshop) -> None:
    version = publish(workshop.workspace, "Pauses", chain("bench_pause"))
    found["live_ms_p95"] = live.measure_live(bench, version)


def _sizes(found: dict[str, float | None], bench: Bench, workshop: Workshop) -> None:
    found["shell_kb_gzip"], found["canvas_kb_gzip"] = front.sizes_kb()


def _frames(found: dict[str, float | None], bench: Bench, workshop: Workshop) -> None:
    version = publish(workshop.workspace, "Large", front.large_graph())
    found["frame_ms_500"] = front.measure_frames(bench, version)


def _wide(found: dict[str, float | None], bench: Bench, workshop: Workshop) -> None:
    version = publish(workshop.workspace, "Wide", scale.wide_and_broken())
    found["map10000_s"], found["resume10000_s"] = scale.measure_wide(bench, version)
    found["tasks2122_per_s"] = scale.measure_tasks(bench, publish(workshop.workspace, "Mosaic", scale.mosaic()))


def _waiting(found: dict[str, float | None], bench: Bench, workshop: Workshop) -> None:
    found["waiting1000_cpu_percent"] = scale.measure_waiting(
        bench, publish(workshop.workspace, "Asks", scale.question())
    )


def _claims(found: dict[str, float | None], bench: Bench, workshop: Workshop) -> None:
    times = scale.measure_claims(publish(workshop.workspace, "Seeded", chain(steps=1)), workshop.user)
    found["claim_ms_p95_small"], found["claim_ms_p95_large"] = times.small_ms, times.large_ms
    found["claim_ms_p95_over"] = times.large_ms - times.small_ms


MEASURES: dict[str, Callable[[dict[str, float | None], Bench, Workshop], None]] = {
    "chains": _chains, "many": _many, "fanout": _fan_out, "first": _first, "memory": _memory, "recovery": _recovery,
    "live": _live, "sizes": _sizes, "frames": _frames, "wide": _wide, "waiting": _waiting, "claims": _claims,
}  # fmt: skip
