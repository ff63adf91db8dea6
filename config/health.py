"""Is everything that Pawl stands on alive? Answers say what is wrong, never where or with which password."""

import logging
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import redis
from django.conf import settings
from django.db import DatabaseError, connection
from django.db.models.functions import Now
from django.http import HttpRequest, HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from runs.models import Sweeper, Worker
from runs.selectors.health import late_effects, oldest_transaction_s

logger = logging.getLogger(__name__)
SILENT_AFTER = timedelta(seconds=15)  # a worker or sweeper that was not heard for that long does not count


class Part(serializers.Serializer[object]):
    ok = serializers.BooleanField()
    detail = serializers.CharField()


class Health(serializers.Serializer[object]):
    database = Part()
    redis = Part()
    workers = Part()
    sweeper = Part()
    transactions = Part()
    late_zombie_effects = Part()


def _part(ok: bool, detail: str) -> dict[str, Any]:
    return {"ok": ok, "detail": detail}


def check_database() -> dict[str, Any]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return _part(True, "answers")


def check_redis() -> dict[str, Any]:
    with redis.Redis.from_url(settings.REDIS_URL, socket_timeout=1, socket_connect_timeout=1) as client:
        client.ping()
    return _part(True, "answers")


def _guarded(check: Callable[[], dict[str, Any]], refusal: str) -> dict[str, Any]:
    try:
        return check()
    except (DatabaseError, redis.RedisError) as error:
        logger.warning("health: %s", error)
        return _part(False, refusal)


def check_workers() -> dict[str, Any]:
    alive = Worker.objects.filter(dead_at=None, heartbeat_at__gt=Now() - SILENT_AFTER).count()
    return _heard(alive, "worker")


def check_sweeper() -> dict[str, Any]:
    return _heard(Sweeper.objects.filter(seen_at__gt=Now() - SILENT_AFTER).count(), "sweeper")


def check_transactions() -> dict[str, Any]:
    """A transaction that stays open keeps dead rows, and what is claimed must be searched among them."""
    age_s, limit_s = oldest_transaction_s(), settings.OLDEST_TRANSACTION_S
    if age_s > limit_s:
        return _part(False, f"the oldest transaction is {age_s:.0f} s old, more than {limit_s} s: dead rows pile up")
    return _part(True, f"the oldest one is {age_s:.0f} s old")


def check_late_effects() -> dict[str, Any]:
    found = late_effects()
    told = f"{found.last_day} acts in the last 24 h by attempts whose step another one had ({found.ever} in all)"
    return _part(not found.last_day, told)


def _heard(count: int, name: str) -> dict[str, Any]:
    if not count:
        return _part(False, f"no {name} was heard for {SILENT_AFTER.seconds} s: start one")
    return _part(True, f"{count} alive")


def report() -> dict[str, Any]:
    return {
        "database": _guarded(check_database, "does not answer"),
        "redis": _guarded(check_redis, "does not answer; runs go on, only slower"),
        "workers": _guarded(check_workers, "unknown while the database does not answer"),
        "sweeper": _guarded(check_sweeper, "unknown while the database does not answer"),
        "transactions": _guarded(check_transactions, "unknown while the database does not answer"),
        "late_zombie_effects": _guarded(check_late_effects, "unknown while the database does not answer"),
    }


class HealthView(APIView):
    authentication_classes = []
    permission_classes = [AllowAny]

    @extend_schema(operation_id="getHealth", auth=[], responses={200: Health, 503: Health})
    def get(self, request: Request) -> Response:
        """200 while the database answers; read the parts for the rest."""
        parts = report()
        return Response(Health(parts).data, status=200 if parts["database"]["ok"] else 503)


def alive(request: HttpRequest) -> HttpResponse:
    """For a supervisor: this process answers. Asks nobody else."""
    return HttpResponse("ok\n", content_type="text/plain")
