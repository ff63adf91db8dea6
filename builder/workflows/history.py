"""Who changed a step, and when: the states that it went through from version to version, and in the draft."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from builder.workflows.documents import document_of
from builder.workflows.models import Draft, Version, Workflow
from builder.workflows.selectors import version_row

MOST_VERSIONS = 200  # the newest, of which the history is told
Moment = tuple[Mapping[str, Any], str]  # {number, note, published_at, published_by}, and the graph's text


def history_of(workflow: Workflow, node_id: str) -> dict[str, Any]:
    """The newest state first: {items: [{number: n|null, at, by, note, node: {...}|null}], since: n}.

    A row for each version that changed the step, and for the draft where it differs from what is live (number null;
    `by` is then who saved it last). `node` is what it was from then on, null where it was taken out; `since` is the
    oldest version that was looked at. Where a step stands is no change of it.
    """
    newest = Version.objects.filter(workflow_id=workflow.id).select_related("published_by").order_by("-number")
    versions = list(newest[:MOST_VERSIONS])[::-1]
    moments = [(version_row(version), version.graph) for version in versions]
    draft = Draft.objects.select_related("updated_by").get(workflow_id=workflow.id)
    by = str(draft.updated_by) if draft.updated_by else None
    saved = {"number": None, "note": "", "published_at": draft.updated_at, "published_by": by}
    items = list(states(node_id, [*moments, (saved, draft.graph)]))[::-1]
    return {"items": items, "since": versions[0].number if versions else None}


def states(node_id: str, moments: Iterable[Moment]) -> Iterator[dict[str, Any]]:
    """Pure: from the oldest on, each moment at which the step became another one."""
    before: Mapping[str, Any] | None = None
    for row, text in moments:
        node = node_in(text, node_id)
        if placeless(node) != placeless(before):
            told = {"number": row["number"], "note": row["note"], "at": row["published_at"], "by": row["published_by"]}
            yield {**told, "node": node}
        before = node


def node_in(text: str, node_id: str) -> dict[str, Any] | None:
    if node_id not in text:  # most texts of a long history are never parsed
        return None
    nodes: list[dict[str, Any]] = document_of(text)["nodes"]
    return next((node for node in nodes if node["id"] == node_id), None)


def placeless(node: Mapping[str, Any] | None) -> dict[str, Any] | None:
    return None if node is None else {name: value for name, value in node.items() if name != "position"}
