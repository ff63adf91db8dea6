"""What tells that something is wrong with the whole, though every process answers."""

from dataclasses import dataclass

from django.db import connection

# What keeps dead rows from being cleared away: the oldest snapshot or writing transaction of this database, and
# prepared ones. Of other users' sessions PostgreSQL tells no times, unless ours has pg_read_all_stats.
OLDEST = """SELECT coalesce(extract(epoch FROM statement_timestamp() - least(
    (SELECT min(xact_start) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
        AND backend_type = 'client backend' AND (backend_xmin IS NOT NULL OR backend_xid IS NOT NULL)),
    (SELECT min(prepared) FROM pg_prepared_xacts WHERE database = current_database()))), 0)"""
# Index: late_effect_newest.
LATE = """SELECT count(*) FILTER (WHERE at > statement_timestamp() - interval '24 hours'), count(*)
    FROM runs_lateeffect"""


def oldest_transaction_s() -> float:
    """Seconds since the oldest transaction began that keeps dead rows; 0 where there is none."""
    with connection.cursor() as cursor:
        cursor.execute(OLDEST)
        (seconds,) = cursor.fetchone()
    return float(seconds)


@dataclass(frozen=True)
class LateEffects:
    last_day: int
    ever: int  # of runs that are still kept


def late_effects() -> LateEffects:
    with connection.cursor() as cursor:
        cursor.execute(LATE)
        return LateEffects(*cursor.fetchone())
