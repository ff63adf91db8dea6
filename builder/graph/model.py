"""The graph document: what the canvas draws, the draft keeps and a version freezes.

    {"schema": 1,
     "nodes": [{"id": "n1", "key": "fetch", "name": "Fetch batch", "kind": "http_request", "config": {...},
                "policy": {...}, "parent": null, "position": {"x": 0, "y": 0}}],
     "edges": [{"id": "e1", "source": "n1", "source_port": "out", "target": "n2"}]}

`id` never changes; `key` is what expressions say ({{ steps.fetch.output }}) and is unique in the whole graph; `parent`
is the id of the container whose body the node belongs to. Edges never cross a container's border: a body's first nodes
are those without an edge from their siblings. A node with `"disabled": true` is passed through (builder.graph.passing);
`notes` and `groups` (builder.graph.margin) only say how the graph looks. Fields that this version does not know are
kept by the codec, and so survive a save.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

SCHEMA_VERSION = 1


@dataclass(frozen=True)
class Retry:
    """How often a failed attempt is tried again by itself, and how long between."""

    attempts: int = 1  # attempts in all; 1 = no retry
    first_delay_s: float = 1.0
    factor: float = 2.0
    max_delay_s: float = 300.0
    jitter: float = 0.5  # the part of a delay that chance may take away
    on: Sequence[str] | None = None  # codes of the errors that are tried again, '*' for any; None = those that may pass


@dataclass(frozen=True)
class Policy:
    """What the engine does with a node, besides its kind."""

    retry: Retry = field(default_factory=Retry)
    limit_s: float | None = None  # of one attempt; None = the kind's default
    idle_limit_s: float | None = None  # of an attempt that shows no progress: no log, checkpoint, progress
    queue_limit_s: float | None = None  # of waiting for a worker, each time
    total_limit_s: float | None = None  # of all attempts and the pauses between them, since the first start
    skip_if: str | None = None  # an expression: true leaves the step out, before anything of it is done
    on_error: Literal["fail", "fallback", "port"] = "fail"
    fallback: Any = None  # the output with on_error = fallback
    on_upstream_failure: Literal["skip", "wait", "default", "fail"] = "skip"
    default: Any = None  # what expressions see as the failed predecessor's output with on_upstream_failure = default
    join: Literal["all", "any", "first", "count"] = "all"  # which of several edges into it must be live
    join_count: int | None = None  # how many, with join = count
    queue: str = "default"
    limit_key: str | None = None  # steps of the workspace with this key share the limits below
    limit_at_most: int | None = None  # of them run at once
    rate_starts: int | None = None  # of them start within any rate_per_s
    rate_per_s: float | None = None
    delivery: Literal["at_most_once"] | None = None  # tightens the kind's own
    reuse: Literal["run", "workflow", "workspace"] | None = None  # whose earlier result of the same input may be taken
    reuse_for_s: float | None = None  # how old it may be; None = a day
    reuse_effects: bool = False  # also of a step that has effects


@dataclass(frozen=True)
class Node:
    id: str
    key: str
    kind: str
    name: str = ""
    config: Mapping[str, Any] = field(default_factory=dict)
    policy: Policy = field(default_factory=Policy)
    parent: str | None = None
    position: tuple[float, float] = (0.0, 0.0)
    disabled: bool = False
    unknown: Mapping[str, Any] = field(default_factory=dict)  # fields of a later version, kept


@dataclass(frozen=True)
class Edge:
    id: str
    source: str
    target: str
    source_port: str = "out"
    unknown: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Graph:
    nodes: tuple[Node, ...] = ()
    edges: tuple[Edge, ...] = ()
    schema: int = SCHEMA_VERSION
    unknown: Mapping[str, Any] = field(default_factory=dict)
