"""How PostgreSQL goes about the statements that are said all the time: by their indexes, never by reading a table."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from psycopg import _queries

from kit.ids import new_id
from runs.bulk import drive as bulk
from runs.engine import limits as engine_limits
from runs.engine import sweep as sweeping
from runs.engine.control import pause_run
from runs.engine.limits import Rounds
from runs.engine.start import Start, start_run
from runs.engine.sweep import IS_DUE, IS_EXPIRED, TRY_LOCK_RUN
from runs.store import claim, fleet, limits, looks, outbox, parts, read
from runs.store.read import Connection
from runs.triggers import sweep as triggers
from tests.bench.seed import forget_seeded, seed_steps
from tests.engine import World
from tests.hands import KINDS

pytestmark = pytest.mark.django_db(transaction=True)

PSYCOPG_KEEPS_PARAMETERS = 50  # of a statement that it parses once; and so many characters of its text:
PSYCOPG_KEEPS_CHARACTERS = 4096


@pytest.fixture
def seeded(world: World) -> Iterator[World]:
    """Few rows are ready among many that are done; two workers; a limit that is set for somebody else."""
    version = world.draw("S > A")
    with world.connection.transaction():
        start_run(world.connection, Start(version.workflow_id, version.id, None, "Ana"))
    seed_steps(world.connection, version, workspace_id=world.workspace.id, steps=20_000, status="succeeded")
    seed_steps(world.connection, version, workspace_id=world.workspace.id, steps=200, status="ready")
    assert world.process.id is not None
    world.connection.execute(
        "INSERT INTO runs_limit (name, at_most, set_at, set_by) VALUES ('queue:x', 1, now(), 'test')"
    )
    for table in ("runs_steprun", "runs_run", "runs_worker", "runs_wait"):
        world.connection.execute(f"ANALYZE {table}")
    yield world
    forget_seeded(world.connection)


def nodes_of(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for child in plan.get("Plans", []):
        yield from nodes_of(child)


def scans(connection: Connection, statement: str, values: Any) -> set[tuple[str, str]]:
    """(how, of which table or index) of every scan of a statement, planned as the engine has it planned."""
    row = connection.execute("EXPLAIN (FORMAT JSON) " + statement, values).fetchone()
    assert row is not None
    plan = row[0] if isinstance(row[0], list) else json.loads(row[0])
    return {
        (node["Node Type"], node.get("Index Name") or node.get("Relation Name", ""))
        for node in nodes_of(plan[0]["Plan"])
        if "Scan" in node["Node Type"] and ("Relation Name" in node or "Index Name" in node)
    }


def values_of_claim(world: World) -> dict[str, Any]:
    return {
        "worker": world.process.id, "claim": new_id(), "queue": "default", "kinds": list(KINDS),
        "after": claim.FIRST, "full": [],
    }  # fmt: skip


def test_a_claim_reads_no_more_than_the_rows_in_turn(seeded: World) -> None:
    found = scans(seeded.connection, claim.CLAIM, values_of_claim(seeded))
    assert {name for how, name in found if how == "Seq Scan"} == set()
    assert "step_run_turn" in {name for _, name in found}


STATEMENTS: dict[str, tuple[str, Any]] = {
    "claimed again": (claim.CLAIMED, (claim.FIRST, claim.FIRST)),
    "heartbeat": (fleet.HEARTBEAT, {"worker": claim.FIRST, "steps": [1], "fences": [1]}),
    "dead workers' steps": (fleet.HELD_BY_DEAD, (200,)),
    "due": (fleet.DUE, (200,)),
    "expired waits": (fleet.EXPIRED_WAITS, (200,)),
    "unclaimed": (fleet.UNCLAIMED, (200,)),
    "open and nothing runs": (fleet.STANDING, (claim.FIRST, 200)),
    "waits for a run in vain": (fleet.UNHEARD, (claim.FIRST,)),
    "waits for a run": (read.READ_WAITING_FOR_RUNS, (claim.FIRST,)),
    "a sweeper's look": (looks.LOOK, (claim.FIRST, "here")),
    "a look at triggers": (triggers.LOOK, ()),
    "a look at bulk operations": (bulk.ANY, ()),
    "forget firings": (triggers.FORGET, {"at": triggers.OLDEST[0], "id": 0, "days": 30, "batch": 1000}),
    "the next of the outbox": (outbox.NEXT, {"after": claim.FIRST, "passed": []}),
    "overdue": (fleet.OVERDUE, (200,)),
    "queue over": (fleet.QUEUE_OVER, (200,)),
    "total over": (fleet.TOTAL_OVER, (200,)),
    "lock a run": (TRY_LOCK_RUN, (claim.FIRST,)),
    "is due": (IS_DUE, (1,)),
    "is expired": (IS_EXPIRED, (1,)),
    "siblings": (read.READ_TOP, (claim.FIRST,)),
    "an item": (read.READ_ITEM, (1, 1)),
    "ready of a run": (read.READ_READY, (claim.FIRST,)),
    "open of a run": (read.READ_OPEN, (claim.FIRST,)),
    "names of limits": (limits.HELD_NAMES, {"after": "", "limit": 10}),
    "first that is held": (limits.FIRST_HELD, ("key:x:y",)),
    "let go": (limits.LET_GO, ("key:x:y", 3)),
    "forget starts": (limits.FORGET, ()),
    **{
        f"count of a {name}": (text, {"queue": ("x",), "workspace": (claim.FIRST,), "rate": ("x", 1.0)}.get(
            name, (claim.FIRST, claim.FIRST if name == "workflow" else "x")))
        for name, text in limits.COUNTS.items()
    },
}  # fmt: skip


def test_no_statement_of_workers_and_sweepers_reads_a_whole_table(seeded: World) -> None:
    found = {name: scans(seeded.connection, *said) for name, said in STATEMENTS.items()}
    assert {name: each for name, each in found.items() if any(how == "Seq Scan" for how, _ in each)} == {}


def test_the_statement_of_a_chain_is_short_enough_to_be_parsed_once() -> None:
    """psycopg parses a longer one, or one with more parameters, anew for each step: 0.1 ms that nobody sees."""
    finish = " ".join(parts.RAN.split() + parts.STEPPED.split() + parts.ENDED.split() + parts.TOLD.split())
    assert finish.replace("%%", "").count("%s") <= PSYCOPG_KEEPS_PARAMETERS
    assert len(finish) + 50 <= PSYCOPG_KEEPS_CHARACTERS
    assert len(claim.CLAIM) <= PSYCOPG_KEEPS_CHARACTERS
    assert len(looks.LOOK) <= PSYCOPG_KEEPS_CHARACTERS


def test_psycopg_parses_no_statement_of_a_map_anew_for_each_item(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor that of a start; longer ones than it would keep by itself, with more values."""
    version = world.draw("S > each:map[A] > B", configs={"each": {"items": "{{ run.input }}"}})
    world.start(version, [1, 2, 3])
    world.work()
    anew: list[int] = []
    parse = _queries._query2pg_nocache
    monkeypatch.setattr(
        _queries, "_query2pg_nocache", lambda query, coding: anew.append(len(query)) or parse(query, coding)
    )
    run_id = world.start(version, [1, 2, 3]).run_id
    world.work()
    assert world.run(run_id).status == "succeeded"
    assert anew == []


def test_a_look_at_limits_where_nothing_is_held_is_one_statement_and_a_sweep(seeded: World) -> None:
    said: list[str] = []

    class Listening:
        def execute(self, statement: str, *values: Any) -> Any:
            said.append(statement)
            return seeded.connection.execute(statement, *values)

    engine_limits.let_all_go(Listening(), Rounds())  # type: ignore[arg-type]
    assert said == [limits.HELD_NAMES, limits.FORGET]


class Listening:
    """A connection that notes what is said."""

    def __init__(self, connection: Connection) -> None:
        self.said: list[str] = []
        self._connection = connection

    def execute(self, statement: str, *values: Any) -> Any:
        self.said.append(statement)
        return self._connection.execute(statement, *values)


def idle(world: World) -> list[str]:
    """What a sweep says that finds nothing, once it has looked for stuck runs."""
    listening, memory = Listening(world.connection), sweeping.Memory()
    memory.is_time_for_stuck()
    sweeping.sweep(listening, sweeper=new_id(), host="here", is_gone=lambda _: None, memory=memory)  # type: ignore[arg-type]
    return listening.said


def test_a_sweep_that_has_nothing_to_do_is_one_statement_whatever_waits(world: World) -> None:
    assert idle(world) == [looks.LOOK]
    version = world.draw("S > P", configs={"P": {"title": "Go on?"}})
    for _ in range(3):
        world.start(version)
    world.work()
    assert idle(world) == [looks.LOOK]


def test_a_sweep_beside_a_paused_run_looks_at_what_lies_aside_only_in_a_round(world: World) -> None:
    """A run may be paused for weeks."""
    version = world.draw("S > A")
    run_id = world.start(version).run_id
    with world.connection.transaction():
        pause_run(world.connection, world.command(run_id, "pause"))
    assert idle(world) == [looks.LOOK]
    listening = Listening(world.connection)
    sweeping.sweep(listening, sweeper=new_id(), host="here", is_gone=lambda _: None)  # type: ignore[arg-type]
    assert {looks.LOOK, limits.HELD_NAMES, limits.BRING_BACK} <= set(listening.said)


def test_a_step_that_a_limit_holds_is_seen_by_each_sweep_whatever_its_name(world: World) -> None:
    version = world.draw("S > A")
    run_id = world.start(version).run_id
    for name in ("key:x:y", "queue:x", "workspace:x", "a", "z"):
        world.connection.execute(
            "UPDATE runs_steprun SET held_by = %s WHERE run_id = %s AND status = 'ready'", (name, run_id)
        )
        assert looks.look(world.connection, sweeper=new_id(), host="here").wanted == {"held"}
    world.connection.execute(
        "UPDATE runs_steprun SET held_by = 'paused' WHERE run_id = %s AND status = 'ready'", (run_id,)
    )
    assert looks.look(world.connection, sweeper=new_id(), host="here").wanted == {"aside"}


# Of each index its columns and condition; unique ones, and those for LIKE, are there for more than reading.
NEEDLESS = """WITH i AS (
    SELECT x.indrelid, x.indexrelid::regclass::text AS name, indisunique AS is_unique,
        array(SELECT pg_get_indexdef(indexrelid, n, true) FROM generate_series(1, indnkeyatts) n) AS keys,
        coalesce(pg_get_expr(indpred, indrelid), '') AS condition
    FROM pg_index x JOIN pg_class c ON c.oid = x.indrelid WHERE c.relname LIKE 'runs\\_%'
) SELECT a.name, b.name FROM i a JOIN i b ON a.indrelid = b.indrelid AND a.name <> b.name AND a.condition = b.condition
WHERE NOT a.is_unique AND a.keys = b.keys[:cardinality(a.keys)] AND a.name NOT LIKE '%\\_like'"""


def test_no_index_is_the_beginning_of_another_one(world: World) -> None:
    """Each is opened by every statement that changes a row of its table, and read by none."""
    assert world.connection.execute(NEEDLESS).fetchall() == []


def test_an_idle_look_reads_nothing_of_what_waits_for_a_person(world: World) -> None:
    """A thousand open questions cost what none costs."""
    version = world.draw("S > A")
    with world.connection.transaction():
        start_run(world.connection, Start(version.workflow_id, version.id, None, "Ana"))
    seed_steps(world.connection, version, workspace_id=world.workspace.id, steps=2_000, status="succeeded")
    world.connection.execute("ALTER TABLE runs_steprun DISABLE TRIGGER USER")
    world.connection.execute(
        "UPDATE runs_steprun SET status = 'waiting', wait_kind = 'approval' WHERE status = 'succeeded'"
        " AND run_id IN (SELECT id FROM runs_run WHERE trigger = 'seeded')"
    )
    world.connection.execute("ALTER TABLE runs_steprun ENABLE TRIGGER USER")
    world.connection.execute("ANALYZE runs_steprun")
    statement = f"EXPLAIN (ANALYZE, FORMAT JSON) {looks.LOOK}"
    row = world.connection.execute(statement, (new_id(), "here")).fetchone()
    assert row is not None
    read = [
        each["Actual Rows"] + each.get("Rows Removed by Filter", 0)
        for each in nodes_of(row[0][0]["Plan"])
        if each.get("Relation Name") in ("runs_steprun", "runs_wait", "runs_run")
    ]
    assert max(read) <= 1
    forget_seeded(world.connection)


def test_triggers_and_bulk_operations_are_looked_at_by_one_statement_each(world: World) -> None:
    listening = Listening(world.connection)
    assert triggers.fire_due(listening) == 0  # type: ignore[arg-type]
    assert not bulk.are_any(listening)  # type: ignore[arg-type]
    assert listening.said == [triggers.LOOK, bulk.ANY]
