"""Definitions by version: a version never changes, so each process reads it once."""

import json
from collections import OrderedDict
from threading import Lock
from uuid import UUID

from builder.graph.codec import decode
from runs.core.definition import Definition
from runs.store.read import Connection
from steps.registry import all_specs

KEPT = 256

_cache: "OrderedDict[UUID, Definition]" = OrderedDict()
_lock = Lock()


def definition_of(connection: Connection, version_id: UUID) -> Definition:
    """The indexed graph of a version."""
    with _lock:
        if version_id in _cache:
            _cache.move_to_end(version_id)
            return _cache[version_id]
    row = connection.execute("SELECT graph FROM workflows_version WHERE id = %s", (version_id,)).fetchone()
    assert row is not None, "a run's version is never deleted"
    definition = Definition(decode(json.loads(row[0])), all_specs())
    with _lock:
        _cache[version_id] = definition
        while len(_cache) > KEPT:
            _cache.popitem(last=False)
    return definition
