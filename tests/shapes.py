"""Workflows with the shapes of real ones, from bioinformatics, astronomy and seismology: how wide, how deep, what joins
what, and how long each task takes. Made, not copied; the sizes are the caller's.

    montage(images=108, overlaps=1890)     2,122 tasks in 8 levels, joins of 630
    seismology(pairs=1100)                 all at once, one join of 1,100
    genome(chromosomes=22, parts=25), epigenomics(lanes=6, chunks=140), soykb(samples=25, chunks=20),
    pipeline(samples=22)                   many levels of all sorts
"""

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from builder.graph.model import Edge, Graph, Node

FEWEST_S, MOST_S = 1.0, 900.0


@dataclass(frozen=True)
class Task:
    name: str
    runtime_s: float  # as long as the real one took
    parents: tuple[str, ...] = ()


class Shape:
    """Tasks in the order in which they were added: parents first."""

    def __init__(self, seed: int = 1) -> None:
        self.tasks: list[Task] = []
        self._random = random.Random(seed)

    def add(self, name: str, parents: Iterable[str] = (), *, around_s: float = 10.0) -> str:
        runtime_s = min(MOST_S, max(FEWEST_S, self._random.lognormvariate(0, 0.4) * around_s))
        self.tasks.append(Task(name, runtime_s, tuple(parents)))
        return name

    def some(self, names: Sequence[str], count: int) -> list[str]:
        return self._random.sample(names, min(count, len(names)))


def montage(images: int, overlaps: int, *, bands: int = 3) -> list[Task]:
    """A mosaic of the sky: reproject each image, fit each overlap of two, level the background and add up by band."""
    shape = Shape()
    projected = [shape.add(f"project{i}", around_s=700) for i in range(images)]
    fitted = [shape.add(f"fit{i}", shape.some(projected, 2), around_s=4) for i in range(overlaps)]
    seen = []
    for band in range(bands):
        joined = shape.add(f"concat{band}", fitted[band::bands], around_s=60)
        model = shape.add(f"model{band}", [joined], around_s=100)
        own = projected[band::bands]
        levelled = [shape.add(f"level{band}x{i}", [one, model], around_s=8) for i, one in enumerate(own)]
        table = shape.add(f"table{band}", levelled, around_s=15)
        seen.append(shape.add(f"add{band}", [table], around_s=90))
    views = [shape.add(f"view{band}", [one], around_s=20) for band, one in enumerate(seen)]
    shape.add("mosaic", views, around_s=20)
    return shape.tasks


def seismology(pairs: int) -> list[Task]:
    shape = Shape()
    shape.add("misfit", [shape.add(f"pair{i}", around_s=2) for i in range(pairs)], around_s=1)
    return shape.tasks


def genome(chromosomes: int, parts: int) -> list[Task]:
    """Each chromosome in parts, merged; beside it a filter; then two studies for each of seven populations."""
    shape = Shape()
    for c in range(chromosomes):
        merged = shape.add(f"merge{c}", [shape.add(f"part{c}x{i}", around_s=120) for i in range(parts)], around_s=40)
        sifted = shape.add(f"sift{c}", around_s=20)
        for p in range(7):
            shape.add(f"overlap{c}x{p}", [merged, sifted], around_s=60)
            shape.add(f"frequency{c}x{p}", [merged, sifted], around_s=200)
    return shape.tasks


def epigenomics(lanes: int, chunks: int) -> list[Task]:
    """Each lane is split, each chunk goes through four steps in a row, and all comes together again, twice."""
    shape = Shape()
    ends = []
    for lane in range(lanes):
        split = shape.add(f"split{lane}", around_s=30)
        mapped = []
        for chunk in range(chunks):
            last = split
            for step, around_s in (("filter", 5), ("sol", 2), ("bfq", 2), ("map", 150)):
                last = shape.add(f"{step}{lane}x{chunk}", [last], around_s=around_s)
            mapped.append(last)
        ends.append(shape.add(f"merge{lane}", mapped, around_s=20))
    merged = shape.add("merge", ends, around_s=30)
    shape.add("pileup", [shape.add("index", [merged], around_s=40)], around_s=50)
    return shape.tasks


def soykb(samples: int, chunks: int) -> list[Task]:
    """Six steps in a row for each sample, then fanned out by chunk, joined over all samples, and filtered."""
    shape = Shape()
    called: list[str] = []
    for sample in range(samples):
        last = shape.add(f"align{sample}", around_s=200)
        for step in ("sort", "dedup", "replace", "target", "realign"):
            last = shape.add(f"{step}{sample}", [last], around_s=60)
        called += [shape.add(f"call{sample}x{chunk}", [last], around_s=300) for chunk in range(chunks)]
    typed = [shape.add(f"genotype{chunk}", called[chunk::chunks], around_s=100) for chunk in range(chunks)]
    combined = shape.add("combine", typed, around_s=20)
    for name in ("snp", "indel"):
        shape.add(f"filter_{name}", [shape.add(f"select_{name}", [combined], around_s=10)], around_s=5)
    return shape.tasks


def pipeline(samples: int, *, levels: int = 17) -> list[Task]:
    """A pipeline as people write them: many levels, each with its own mix of steps by sample and of joins over all."""
    shape = Shape()
    level = [shape.add(f"l0x{i}", around_s=30) for i in range(samples)]
    for depth in range(1, levels):
        width = max(2, samples * (5 + depth * 7 % 11) // 10)
        level = [shape.add(f"l{depth}x{i}", shape.some(level, 1 + i % 3), around_s=30) for i in range(width)]
    shape.add("report", [task.name for task in shape.tasks if "x0" in task.name or "x1" in task.name], around_s=60)
    return shape.tasks


def graph_of(
    tasks: Sequence[Task], *, kind: str, config_of: Mapping[str, Any] | None = None, scale: float = 0
) -> Graph:
    """One node a task, behind a start; with `scale` above 0 each sleeps that much of its real time (`sleep_s`)."""
    base = dict(config_of or {})
    nodes = [Node("start", "start", "start")]
    edges = []
    for task in tasks:
        config = {**base, "sleep_s": task.runtime_s * scale} if scale else base
        nodes.append(Node(f"n_{task.name}", task.name, kind, task.name, config=config))
        parents = [f"n_{parent}" for parent in task.parents] or ["start"]
        edges += [Edge(f"{parent}>{task.name}", parent, f"n_{task.name}") for parent in parents]
    return Graph(tuple(nodes), tuple(edges))


def critical_path_s(tasks: Sequence[Task]) -> float:
    """How long it takes at least, however many workers there are."""
    ends: dict[str, float] = {}
    for task in tasks:
        ends[task.name] = task.runtime_s + max((ends[parent] for parent in task.parents), default=0.0)
    return max(ends.values())
