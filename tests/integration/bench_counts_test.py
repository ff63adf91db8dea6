"""The promises of the engine that can be counted: they hold on any machine, so they gate, and times do not."""

from collections.abc import Iterator

import psycopg
import pytest
from django.conf import settings

from tests.bench.counts import count_chain
from tests.bench.stack import connect
from tests.bench.wire import Proxy
from tests.bench.workflows import STEPS
from tests.engine import World

MOST_TRIPS = 1.3  # a step; of the claim and of what the first step reads, each step bears its share

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def proxy() -> Iterator[Proxy]:
    database = settings.DATABASES["default"]
    with Proxy(upstream=(str(database["HOST"]), int(database["PORT"]))) as running:
        yield running


@pytest.fixture
def wire(proxy: Proxy) -> Iterator[psycopg.Connection]:
    with connect(port=proxy.port, name="counted") as connection:
        connection.execute("CREATE TEMPORARY TABLE thing (number int)")
        proxy.count("counted")
        yield connection


def test_a_step_of_a_chain_costs_one_commit_and_hardly_more_than_one_round_trip() -> None:
    with World() as world:
        counted = count_chain(world)
    shown = "\n".join(" | ".join(statement[:60] for statement in trip) or "(nothing)" for trip in counted.trips)
    assert counted.commits_per_step * STEPS == pytest.approx(STEPS + 1), f"each step and the first claim:\n{shown}"
    assert counted.transactions == STEPS + 1, "PostgreSQL's own count of transactions that wrote"
    assert counted.round_trips_per_step <= MOST_TRIPS, shown


def test_the_wire_counts_a_statement_as_one_round_trip_and_a_pipeline_too(
    wire: psycopg.Connection, proxy: Proxy
) -> None:
    wire.execute("SELECT 1")
    assert proxy.count("counted").trips == [["SELECT 1"]]
    with wire.pipeline():
        wire.execute("BEGIN")
        wire.execute("INSERT INTO thing VALUES (1)")
        wire.execute("COMMIT")
    counted = proxy.count("counted")
    assert counted.trips == [["BEGIN", "INSERT INTO thing VALUES (1)", "COMMIT"]]
    assert counted.commits == 1


def test_the_wire_counts_only_commits_that_wrote(wire: psycopg.Connection, proxy: Proxy) -> None:
    wire.execute("UPDATE thing SET number = 2 WHERE number = 7")
    with wire.transaction(force_rollback=True):
        wire.execute("INSERT INTO thing VALUES (1)")
    assert proxy.count("counted").commits == 0
    with wire.transaction():
        wire.execute("INSERT INTO thing VALUES (1)")
        wire.execute("SELECT 1")
    assert proxy.count("counted").commits == 1


def test_the_wire_counts_each_application_apart(wire: psycopg.Connection, proxy: Proxy) -> None:
    with connect(port=proxy.port, name="another") as other:
        other.execute("SELECT 2")
    wire.execute("SELECT 1")
    assert proxy.count("counted").trips == [["SELECT 1"]]
    assert ["SELECT 2"] in proxy.count("another").trips
