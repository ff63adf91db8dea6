"""Step kinds that use what the step context keeps: cursors, acts, artifacts, what is set up anew. Registered as those
of tests/kinds.py are.
"""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from steps.base import Body, Delivery, StepContext, StepFailure
from tests.kinds import AnyConfig, deep, kind


def walk(config: AnyConfig, ctx: StepContext) -> Any:
    """Moves a cursor over config.value positions; the first attempt ends half-way, as its number says."""
    rows = ctx.cursor("row", start=0)
    began_at = rows.value
    for row in range(began_at, config.value["rows"]):
        rows.move(row + 1)
        if ctx.attempt == 1 and row + 1 == config.value["rows"] // 2:
            how_it_ends(config.value["ends"])
    before = ctx.previous
    return {"began_at": began_at, "before": before and [before.number, before.outcome, dict(before.cursors)]}


def how_it_ends(how: str) -> None:
    match how:
        case "fails":
            raise StepFailure("not_yet", "come again", retryable=True)
        case "sleeps":
            time.sleep(60)
        case "is_killed":
            os.kill(os.getpid(), signal.SIGKILL)


def make_artifacts(config: AnyConfig, ctx: StepContext) -> Any:
    """config.value: what each file is to hold, by name."""
    kept = []
    for name, content in config.value.items():
        (ctx.workdir / "made").write_text(content)
        kept.append(ctx.artifact("made", name))
    if ctx.attempt == 1 and "again.txt" in config.value:
        raise StepFailure("not_yet", "come again", retryable=True)
    return kept


def count_calls(config: AnyConfig, ctx: StepContext) -> Any:
    """Writes a line for each call; gives the value and which call it was."""
    book = Path(config.value["book"])
    with book.open("a") as lines:
        lines.write(f"{ctx.run_id} {ctx.path}\n")
    if config.value["value"] == "fail":
        raise StepFailure("told", "It was told to fail.")
    return [config.value["value"], len(book.read_text().splitlines())]


def act_once(config: AnyConfig, ctx: StepContext) -> Any:
    """Writes a line, as an act; the first attempt dies before, inside or after it."""

    def write() -> int:
        with Path(config.value["book"]).open("a") as lines:
            lines.write(f"{ctx.idempotency_key}\n")
        if dies == "inside":
            os.kill(os.getpid(), signal.SIGKILL)
        if dies == "fails":
            raise OSError("the line broke\0")
        return 7

    dies = config.value["dies"] if ctx.attempt == 1 else None
    if dies == "before":
        os.kill(os.getpid(), signal.SIGKILL)
    written = ctx.act("write", write, book=config.value["book"])
    if dies == "after":
        os.kill(os.getpid(), signal.SIGKILL)
    return written


def keep_odd_artifact(config: AnyConfig, ctx: StepContext) -> Any:
    match config.value:
        case "outside":
            return ctx.artifact("/etc/passwd")
        case "link":
            (ctx.workdir / "link").symlink_to("/etc/passwd")
            return ctx.artifact("link")
        case "folder":
            return ctx.artifact(ctx.workdir)
        case "missing":
            return ctx.artifact("missing")
        case "large":
            with (ctx.workdir / "large").open("wb") as file:
                file.truncate(3 * 1024 * 1024)
            return ctx.artifact("large")
        case name:
            (ctx.workdir / "file").write_text("x")
            return ctx.artifact("file", name["name"], name.get("media_type"))


def artifact_with_secret(config: AnyConfig, ctx: StepContext) -> Any:
    password = str(ctx.connection("service")["password"])
    (ctx.workdir / "file").write_text("x" * 1_048_570 + password + "y" * 100)
    return ctx.artifact("file")


@contextmanager
def opened(config: AnyConfig, ctx: StepContext) -> Iterator[dict[str, int]]:
    ctx.log(f"opened {ctx.attempt}")
    yield {"opened_in": ctx.attempt}
    ctx.log(f"closed {ctx.attempt}")


def with_resource(config: AnyConfig, ctx: StepContext) -> Any:
    first = ctx.once("first", lambda: ctx.resource["opened_in"])
    if ctx.attempt == 1:
        raise StepFailure("not_yet", "come again", retryable=True)
    return {"first": first, "now": ctx.resource["opened_in"]}


def nested(config: AnyConfig, ctx: StepContext) -> Any:
    return deep(config.value)


def odd_everywhere(config: AnyConfig, ctx: StepContext) -> Any:
    """Puts a text of odd signs wherever a body can put one; fails with it at last, and then gives it."""
    odd = config.value
    ctx.log(odd)
    ctx.progress(1, 2, odd)
    ctx.cursor("at").move({odd: odd})
    ctx.partial([odd])
    kept = ctx.once("kept", lambda: {odd: [odd]})
    if ctx.attempt == 1:
        raise StepFailure("odd", f"it was {odd}", retryable=True, data={odd: odd})
    return {"kept": kept, "partials": list(ctx.previous_partials), "at": ctx.cursor("at").value, "odd": odd}


WITH_RESOURCE_SPEC = replace(kind(with_resource), set_up="tests.keeping_kinds:opened")
ACT_ONCE_SPEC = replace(kind(act_once, delivery=Delivery.AT_MOST_ONCE), acts=True)
BODIES: list[Body] = [
    walk,
    make_artifacts,
    count_calls,
    keep_odd_artifact,
    artifact_with_secret,
    nested,
    odd_everywhere,
]
globals().update({f"{body.__name__.upper()}_SPEC": kind(body) for body in BODIES})
