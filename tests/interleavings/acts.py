"""Every act of the engine, done in a scene. `registry_test.py` fails when the engine can do something that is not here.

An act is a function of (scene, connection). It asks for the same thing each time that it is called on one scene: the
same command id, the same claim id, the same fence. `scene.again` says that an earlier call got no answer.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from kit.ids import new_id
from runs.core.breakpoints import Breakpoints
from runs.core.limits import key_limit
from runs.core.outcomes import Succeeded
from runs.engine import artifacts, callback, checkpoint, children, limits, repair, sweep
from runs.engine.cancel import cancel_run
from runs.engine.claim import claim
from runs.engine.control import change_breakpoints, pause_run, unpause_run
from runs.engine.decide import decide_step
from runs.engine.epoch import raise_epoch
from runs.engine.finish import finish, keep_values
from runs.engine.fork import Forking, fork_run
from runs.engine.late import keep_late_effects
from runs.engine.resume import resume_run
from runs.engine.retention import Housekeeping
from runs.engine.start import Start, start_run
from runs.engine.wait import Answer, answer_wait
from runs.store import fleet
from runs.store.read import Connection
from tests.hands import KINDS
from tests.interleavings.scene import LET_WAITS_EXPIRE, Scene

BIG = "x" * 20_000  # larger than a row holds: uploaded before its transaction


@dataclass(frozen=True)
class Act:
    """`covers` names what it calls, as `module.function`; `before` makes the scene fit for it."""

    name: str
    covers: tuple[str, ...]
    do: Callable[[Scene, Connection], Any]
    before: Callable[[Scene], Any] = lambda scene: None


ACTS: dict[str, Act] = {}


Do = Callable[[Scene, Connection], Any]


def act(*covers: str, before: Callable[[Scene], Any] = lambda scene: None) -> Callable[[Do], Do]:
    """Enters the function into the registry under its own name."""

    def enter(do: Do) -> Do:
        ACTS[do.__name__] = Act(do.__name__, covers, do, before)
        return do

    return enter


# ---------------------------------------------------------------------- workers
@act("claim.claim")
def claims(scene: Scene, connection: Connection) -> Any:
    return claim_of(scene, connection, kinds=["template"])


@act("limits.start_limited", "limits.lock_names")
def claims_under_a_limit(scene: Scene, connection: Connection) -> Any:
    return claim_of(scene, connection, kinds=KINDS)


def claim_of(scene: Scene, connection: Connection, *, kinds: Sequence[str]) -> Any:
    return claim(connection, scene.again, worker=scene.hand.id, claim_id=scene.claim_id, queue="default", kinds=kinds)


@act("finish.finish")
def finishes(scene: Scene, connection: Connection) -> Any:
    return finish(connection, [scene.request("A")], others=2)


@act("finish.finish")
def finishes_as_known(scene: Scene, connection: Connection) -> Any:
    """One statement, from what the worker's last finish left behind; after a lost reply without that."""
    known, scene.known = scene.known, None
    return finish(connection, [scene.request("item")], known=known, others=2)


@act("finish.finish")
def finishes_two_together(scene: Scene, connection: Connection) -> Any:
    return finish(connection, [scene.request("A"), scene.request("item")], idle=[scene.idle_wish], others=1)


@act("finish.finish")
def finishes_what_a_dying_worker_held(scene: Scene, connection: Connection) -> Any:
    return finish(connection, [scene.request("C")])


@act("finish.keep_values")
def keeps_a_large_value(scene: Scene, connection: Connection) -> Any:
    return keep_values(connection, Succeeded(BIG + scene.start_key))


@act("checkpoint.keep_checkpoint")
def keeps_a_checkpoint(scene: Scene, connection: Connection) -> Any:
    return checkpoint.keep_checkpoint(connection, scene.a, kind="once", key="k", value=1)


@act("checkpoint.keep_log")
def keeps_a_log(scene: Scene, connection: Connection) -> Any:
    return checkpoint.keep_log(connection, scene.a, offset=0, text="line\n")


@act("sweep.recover")
def gives_back_what_it_never_heard_of(scene: Scene, connection: Connection) -> Any:
    held = scene.a
    return sweep.recover(connection, scene.id, step_run_id=held.step_run_id, fence=held.fence, detail="never heard")


@act("late.keep_late_effects")
def tells_what_it_did_too_late(scene: Scene, connection: Connection) -> Any:
    return keep_late_effects(connection, scene.lost, {"write": "unknown"}, worker=scene.dead.id)


@act()
def beats(scene: Scene, connection: Connection) -> Any:
    return fleet.heartbeat(connection, worker=scene.hand.id, held=[(scene.a.step_run_id, scene.a.fence)])


@act("limits.set_limit")
def sets_a_limit(scene: Scene, connection: Connection) -> Any:
    name = key_limit(scene.world.workspace.id, "crm")
    return limits.set_limit(connection, name, 5, workspace_id=scene.world.workspace.id, actor="Ana")


# ---------------------------------------------------------------------- people
@act("start.start_run")
def starts(scene: Scene, connection: Connection) -> Any:
    wanted = Start(scene.version.workflow_id, scene.version.id, None, "Ana", idempotency_key=scene.start_key)
    with connection.transaction():
        return start_run(connection, wanted)


@act("resume.resume_run", "commands.command")
def resumes(scene: Scene, connection: Connection) -> Any:
    with connection.transaction():
        return resume_run(connection, scene.command("resume"))


@act("cancel.cancel_run")
def cancels(scene: Scene, connection: Connection) -> Any:
    with connection.transaction():
        return cancel_run(connection, scene.command("cancel"))


@act("decide.decide_step")
def decides(scene: Scene, connection: Connection) -> Any:
    with connection.transaction():
        return decide_step(connection, scene.command("decide", subject="N"), path="N", decision="happened", output=7)


@act("wait.answer_wait")
def answers(scene: Scene, connection: Connection) -> Any:
    given = Answer(scene.wait_id(), "approved", "", None, None)
    with connection.transaction():
        return answer_wait(connection, scene.command("answer", subject="P"), given)


@act("repair.edit_step", "operations.perform")
def edits(scene: Scene, connection: Connection) -> Any:
    with connection.transaction():
        return repair.edit_step(connection, scene.command("edit", subject="X"), path="X", given={"value": BIG})


@act("repair.skip_step")
def skips(scene: Scene, connection: Connection) -> Any:
    with connection.transaction():
        return repair.skip_step(connection, scene.command("skip", subject="X"), path="X")


@act("repair.supply_step")
def supplies(scene: Scene, connection: Connection) -> Any:
    with connection.transaction():
        return repair.supply_step(connection, scene.command("supply", subject="X"), path="X", output=[1, BIG])


@act("repair.retry_step")
def retries(scene: Scene, connection: Connection) -> Any:
    with connection.transaction():
        return repair.retry_step(connection, scene.command("retry", subject="B"), path="B")


@act("callback.issue")
def issues_a_link(scene: Scene, connection: Connection) -> Any:
    with connection.transaction():
        return callback.issue(connection, scene.id, {"of F": "F"}, secret=scene.start_key)


def has_a_link(scene: Scene) -> None:
    scene.token = issues_a_link(scene, scene.link.connection)["of F"]


@act("callback.receive", before=has_a_link)
def hears_back(scene: Scene, connection: Connection) -> Any:
    """Before its step runs: it is kept."""
    with connection.transaction():
        return callback.receive(connection, scene.token or "no link", '{"paid": true}')


def is_decided(scene: Scene) -> None:
    """Nobody copies what nobody knows."""
    decides(scene, scene.link.connection)


@act("fork.fork_run", before=is_decided)
def forks(scene: Scene, connection: Connection) -> Any:
    with connection.transaction():
        return fork_run(connection, scene.command("fork", subject="A"), Forking(path="A"), then=lambda told: None)


@act("control.pause_run")
def pauses(scene: Scene, connection: Connection) -> Any:
    with connection.transaction():
        return pause_run(connection, scene.command("pause"))


def is_paused(scene: Scene) -> None:
    with scene.link.connection.transaction():
        pause_run(scene.link.connection, scene.command("pause before"))


@act("control.unpause_run", before=is_paused)
def unpauses(scene: Scene, connection: Connection) -> Any:
    with connection.transaction():
        return unpause_run(connection, scene.command("unpause"))


@act("control.change_breakpoints")
def sets_a_breakpoint(scene: Scene, connection: Connection) -> Any:
    with connection.transaction():
        points = Breakpoints(nodes=frozenset({"n_Z", "n_F"}))
        return change_breakpoints(connection, scene.command("breakpoints"), points)


# ---------------------------------------------------------------------- the sweeper
@act("sweep.bury_dead")
def buries(scene: Scene, connection: Connection) -> Any:
    return sweep.bury_dead(connection, contact_s=0.0, is_gone=lambda identity: identity.id == scene.gone.id)


@act("epoch.raise_epoch")
def declares_a_failover(scene: Scene, connection: Connection) -> Any:
    return raise_epoch(connection, actor="Ana", note="db1 lost")


@act("children.deliver", "children.deliver_next")
def delivers(scene: Scene, connection: Connection) -> Any:
    """K's child is started."""
    return children.deliver(connection)


@act("sweep.recover_dead")
def recovers(scene: Scene, connection: Connection) -> Any:
    return sweep.recover_dead(connection)


@act("sweep.due")
def begins_what_is_due(scene: Scene, connection: Connection) -> Any:
    return sweep.due(connection)


def is_late(scene: Scene) -> None:
    scene.link.connection.execute(LET_WAITS_EXPIRE, (scene.id,))


@act("sweep.expire_waits", before=is_late)
def expires(scene: Scene, connection: Connection) -> Any:
    return sweep.expire_waits(connection)


def is_overdue(scene: Scene) -> None:
    scene.link.connection.execute(
        "UPDATE runs_run SET deadline_s = 3600, deadline_at = statement_timestamp() WHERE id = %s", (scene.id,)
    )


@act("sweep.stop_overdue", before=is_overdue)
def stops_what_is_overdue(scene: Scene, connection: Connection) -> Any:
    return sweep.stop_overdue(connection)


def is_over_limit(scene: Scene) -> None:
    """B took too long with all its attempts, G waited too long for a worker."""
    connection = scene.link.connection
    for column, path in (("total_until", "B"), ("queue_until", "G")):
        late = f"UPDATE runs_steprun SET {column} = statement_timestamp() WHERE run_id = %s AND path = %s"
        connection.execute(late.encode(), (scene.id, path))


@act("sweep.fail_over_limit", before=is_over_limit)
def fails_what_is_over_its_limit(scene: Scene, connection: Connection) -> Any:
    return sweep.fail_over_limit(connection)


@act("sweep.wake_unclaimed")
def wakes(scene: Scene, connection: Connection) -> Any:
    return sweep.wake_unclaimed(connection)


@act("sweep.unstick")
def unsticks(scene: Scene, connection: Connection) -> Any:
    return sweep.unstick(connection)


@act("sweep.sweep", before=is_late)
def sweeps(scene: Scene, connection: Connection) -> Any:
    return sweep.sweep(connection, sweeper=new_id(), host="test", is_gone=lambda identity: identity.id == scene.gone.id)


@act("limits.let_all_go", "limits.let_go")
def lets_go_what_was_held(scene: Scene, connection: Connection) -> Any:
    return limits.let_all_go(connection, limits.Rounds())


@act("artifacts.sweep_files")
def sweeps_files(scene: Scene, connection: Connection) -> Any:
    return artifacts.sweep_files(connection, after=0, batch=10, grace_s=0.0)


@act("retention.Housekeeping.turn")
def keeps_house(scene: Scene, connection: Connection) -> Any:
    return Housekeeping(grace_s=0.0).turn(connection)
