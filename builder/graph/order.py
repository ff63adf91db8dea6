"""The order of nodes by their edges, and the knots that have none."""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from heapq import heapify, heappop, heappush

Successors = Mapping[str, Sequence[str]]


def arrange(ids: Sequence[str], successors: Successors) -> list[tuple[str, ...]]:
    """Groups of ids, each after all its predecessors' groups. A group of several is a knot: all of them lead to each
    other.

    Among nodes that may come next the earlier in `ids` does. Nodes on or behind a cycle come last.
    """
    place = {node_id: number for number, node_id in enumerate(ids)}
    open_edges = dict.fromkeys(ids, 0)
    for node_id in ids:
        for target in successors[node_id]:
            open_edges[target] += 1
    free = [place[node_id] for node_id in ids if not open_edges[node_id]]
    heapify(free)
    groups: list[tuple[str, ...]] = []
    while free:
        node_id = ids[heappop(free)]
        groups.append((node_id,))
        for target in successors[node_id]:
            open_edges[target] -= 1
            if not open_edges[target]:
                heappush(free, place[target])
    left = [node_id for node_id in ids if open_edges[node_id]]
    return groups + [tuple(sorted(knot, key=place.__getitem__)) for knot in knots(left, successors)]


def knots(ids: Sequence[str], successors: Successors) -> list[list[str]]:
    """Tarjan's strongly connected components, predecessors first. Without recursion: graphs may be 2,000 nodes deep."""
    number: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    stacked: set[str] = set()
    found: list[list[str]] = []

    def enter(node_id: str) -> tuple[str, Iterator[str]]:
        number[node_id] = lowest[node_id] = len(number)
        stack.append(node_id)
        stacked.add(node_id)
        return node_id, iter(successors[node_id])

    def leave(node_id: str) -> None:
        if lowest[node_id] == number[node_id]:
            start = stack.index(node_id)
            found.append(stack[start:])
            stacked.difference_update(stack[start:])
            del stack[start:]

    for first in ids:
        trail = [enter(first)] if first not in number else []
        while trail:
            node_id, targets = trail[-1]
            target = next((target for target in targets if target not in number or target in stacked), None)
            if target is None:
                trail.pop()
                leave(node_id)
                if trail:
                    lowest[trail[-1][0]] = min(lowest[trail[-1][0]], lowest[node_id])
            elif target in number:
                lowest[node_id] = min(lowest[node_id], number[target])
            else:
                trail.append(enter(target))
    return found[::-1]


def way_round(knot: Sequence[str], successors: Successors) -> list[str]:
    """One shortest way from the knot's first node back to it, that node at both ends."""
    inside, first = set(knot), knot[0]
    came_from: dict[str, str] = {}
    queue = deque([first])
    while first not in came_from:
        node_id = queue.popleft()
        for target in successors[node_id]:
            if target in inside and target not in came_from:
                came_from[target] = node_id
                queue.append(target)
    way = [first, came_from[first]]
    while way[-1] != first:
        way.append(came_from[way[-1]])
    return way[::-1]
