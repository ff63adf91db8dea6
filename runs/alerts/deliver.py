"""Facts become deliveries, and deliveries are sent. Any number of sweepers: whoever has the rule's row gathers, whoever
has raised `attempts` sends, and nobody else may note the outcome of that attempt.
"""

import json
import logging
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.conf import settings

from builder.connections.sealing import unseal
from builder.connections.selectors import settings_of
from kit.errors import AppError
from kit.failpoints import failpoint
from kit.ids import new_id
from runs.alerts.letter import SENT, WORDS, Letter, Told
from runs.alerts.post import Hook, Mail, post
from runs.store.read import Connection
from steps.addresses import name_of

GATHER_S = 10.0  # after its first fact a delivery waits so long for others
AT_ONCE = 8  # deliveries that are sent side by side
LEASE_S = 90.0  # of one attempt: whoever dies in it delays the next one by so much
ATTEMPTS = 8
PAUSES_S = (15.0, 60.0, 240.0, 900.0, 3_600.0, 3_600.0, 3_600.0)

# Indexes: alert_fact_new, alert_delivery_newest. A rule says nothing new while a delivery of it waits to be taken, or
# is quiet: what happens meanwhile comes with the next one.
RULES_WITH_NEWS = """SELECT a.id FROM runs_alertrule a WHERE a.is_enabled
    AND EXISTS (SELECT FROM runs_alertfact f WHERE f.rule_id = a.id AND f.delivery_id IS NULL
        AND f.found_at <= statement_timestamp() - make_interval(secs => %(gather_s)s))
    AND NOT EXISTS (SELECT FROM runs_alertdelivery d WHERE d.rule_id = a.id AND NOT d.is_test AND (d.status = 'waiting'
        OR d.created_at > statement_timestamp() - make_interval(secs => a.quiet_s)))
    LIMIT 100 FOR NO KEY UPDATE OF a SKIP LOCKED"""
MAKE = """INSERT INTO runs_alertdelivery (id, rule_id, status, fact_count, not_before, created_at)
    VALUES (%s, %s, 'waiting', 0, statement_timestamp(), statement_timestamp())"""
GATHER = "UPDATE runs_alertfact SET delivery_id = %s WHERE rule_id = %s AND delivery_id IS NULL"
COUNTED = "UPDATE runs_alertdelivery SET fact_count = %s WHERE id = %s"

# Index: alert_delivery_due.
CLAIM = """UPDATE runs_alertdelivery d SET attempts = d.attempts + 1,
        not_before = statement_timestamp() + make_interval(secs => %(lease_s)s)
    FROM runs_alertrule a, teams_workspace w
    WHERE a.id = d.rule_id AND w.id = a.workspace_id AND d.id IN (
        SELECT id FROM runs_alertdelivery WHERE status = 'waiting' AND not_before <= statement_timestamp()
        ORDER BY not_before LIMIT %(most)s FOR UPDATE SKIP LOCKED)
    RETURNING d.id, d.attempts, d.is_test, a.id, a.name, a.channel, a.recipients, a.connection, a.url, a.secret, w.id,
        w.name, w.slug, statement_timestamp()"""
FACTS = """SELECT kind, data, at FROM runs_alertfact WHERE delivery_id = %s ORDER BY at DESC, id DESC LIMIT %s"""
COUNTS = "SELECT kind, count(*) FROM runs_alertfact WHERE delivery_id = %s GROUP BY kind"
SENT_ = """UPDATE runs_alertdelivery SET status = 'sent', sent_at = statement_timestamp(), error = NULL
    WHERE id = %s AND status = 'waiting' AND attempts = %s"""
NOT_SENT = """UPDATE runs_alertdelivery SET status = CASE WHEN attempts >= %(most)s OR is_test THEN 'failed'
        ELSE 'waiting' END, error = %(error)s, not_before = statement_timestamp() + make_interval(secs => %(pause_s)s)
    WHERE id = %(id)s AND status = 'waiting' AND attempts = %(attempt)s"""
ERROR = 1_000  # characters
# Indexes: alert_delivery_age; that of a fact's delivery.
OLD = """SELECT id FROM runs_alertdelivery WHERE status <> 'waiting'
    AND created_at < statement_timestamp() - make_interval(days => %s) ORDER BY created_at LIMIT 500"""
FORGET_FACTS = "DELETE FROM runs_alertfact WHERE delivery_id = ANY(%s)"
FORGET = "DELETE FROM runs_alertdelivery WHERE id = ANY(%s)"
KEPT_DAYS = 30

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Claimed:
    """A delivery that is ours to send, until its lease is over."""

    id: UUID
    attempt: int
    is_test: bool
    rule: UUID
    name: str
    channel: str
    recipients: str
    connection: str
    url: str
    secret: str | None
    workspace: UUID
    workspace_name: str
    slug: str
    now: datetime


def make_deliveries(connection: Connection, *, gather_s: float = GATHER_S) -> int:
    """One for each rule with news; how many. `connection` is in autocommit mode."""
    with connection.transaction():
        rules = connection.execute(RULES_WITH_NEWS, {"gather_s": gather_s}).fetchall()
        for (rule,) in rules:
            id_ = new_id()
            connection.execute(MAKE, (id_, rule))
            told = connection.execute(GATHER, (id_, rule)).rowcount
            connection.execute(COUNTED, (told, id_))
    return len(rules)


def send_due(connection: Connection) -> int:
    """Sends what is due, a few side by side; how many were tried."""
    claimed = [Claimed(*row) for row in connection.execute(CLAIM, {"lease_s": LEASE_S, "most": AT_ONCE}).fetchall()]
    if not claimed:
        return 0
    prepared = [(each, _letter(connection, each), _address(each)) for each in claimed]
    with ThreadPoolExecutor(max_workers=len(prepared)) as pool:
        outcomes = list(pool.map(_send, prepared))
    failpoint("alert_sent")
    for each, error in zip(claimed, outcomes, strict=True):
        note(connection, each, error)
    return len(claimed)


def note(connection: Connection, claimed: Claimed, error: str | None) -> bool:
    """Keeps an attempt's outcome. False where another one was begun since."""
    if error is None:
        return connection.execute(SENT_, (claimed.id, claimed.attempt)).rowcount == 1
    pause_s = PAUSES_S[min(claimed.attempt, len(PAUSES_S)) - 1]
    logger.warning("alert '%s' was not taken, attempt %s: %s", claimed.name, claimed.attempt, error)
    values = {
        "most": ATTEMPTS,
        "error": error[:ERROR],
        "pause_s": pause_s,
        "id": claimed.id,
        "attempt": claimed.attempt,
    }
    return connection.execute(NOT_SENT, values).rowcount == 1


def _letter(connection: Connection, claimed: Claimed) -> Letter:
    rows = connection.execute(FACTS, (claimed.id, SENT)).fetchall()
    counts = dict(connection.execute(COUNTS, (claimed.id,)).fetchall())
    return Letter(
        delivery=str(claimed.id), rule=claimed.name, workspace=claimed.workspace_name, slug=claimed.slug,
        base=settings.PUBLIC_URL, facts=[Told(kind, json.loads(data), at) for kind, data, at in rows],
        counts={kind: counts[kind] for kind in WORDS if kind in counts}, is_test=claimed.is_test,
    )  # fmt: skip


def _address(claimed: Claimed) -> Mail | Hook | str:
    """Where it goes, with what proves who sends it; a text where that cannot be told."""
    try:
        if claimed.channel == "webhook":
            assert claimed.secret is not None
            secret = str(unseal(claimed.rule, claimed.secret)["secret"])
            return Hook(claimed.url, secret, int(claimed.now.timestamp()))
        return Mail(json.loads(claimed.recipients), _mail_settings(claimed))
    except AppError as problem:
        return problem.message


def _mail_settings(claimed: Claimed) -> dict[str, Any]:
    if not claimed.connection:
        return own_mail() or {}
    return settings_of(claimed.workspace, [claimed.connection]).get(claimed.connection) or {}


def own_mail() -> dict[str, Any] | None:
    """Pawl's own mail server as an SMTP connection; None where none is set."""
    if not settings.EMAIL_HOST:
        return None
    return {
        "host": settings.EMAIL_HOST, "port": settings.EMAIL_PORT, "user": settings.EMAIL_HOST_USER,
        "password": settings.EMAIL_HOST_PASSWORD, "sender": settings.DEFAULT_FROM_EMAIL,
        "security": "starttls" if settings.EMAIL_USE_TLS else "none",
    }  # fmt: skip


def _send(prepared: tuple[Claimed, Letter, Mail | Hook | str]) -> str | None:
    claimed, letter, to = prepared
    if isinstance(to, str):
        return to
    if isinstance(to, Mail) and not to.settings:
        named = f"There is no SMTP connection '{claimed.connection}' any more. Choose another one for this alert."
        return named if claimed.connection else "No mail server is set for this Pawl (PAWL_SMTP_HOST)."
    try:
        return post(letter, to, allow=_allowed(claimed))
    except Exception as problem:  # a defect of one must not end the others
        logger.exception("alert '%s' could not be sent", claimed.name)
        return f"A defect: {type(problem).__name__}. The log of Pawl has it."


def _allowed(claimed: Claimed) -> frozenset[str]:
    """Pawl's own mail server may be private: whoever runs Pawl has named it."""
    if claimed.channel != "mail" or claimed.connection or not settings.EMAIL_HOST:
        return frozenset(settings.OUTBOUND_ALLOW)
    return frozenset({*settings.OUTBOUND_ALLOW, name_of(settings.EMAIL_HOST, settings.EMAIL_PORT)})


def forget(connection: Connection, *, days: int = KEPT_DAYS) -> int:
    """Takes deliveries of long ago away, with what they told; how many."""
    with connection.transaction():
        ids = [row[0] for row in connection.execute(OLD, (days,))]
        connection.execute(FORGET_FACTS, (ids,))
        connection.execute(FORGET, (ids,))
    return len(ids)
