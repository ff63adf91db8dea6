"""The sample's workflows: documents that the codec takes, whose settings fit their kinds."""

from typing import Any

import pytest

from builder.graph.codec import decode
from sample.graphs import INVOICE_STEPS, agents, supplier_invoices
from steps import registry

GRAPHS = {"invoices": supplier_invoices(), "agents": agents()}


@pytest.mark.parametrize("document", GRAPHS.values(), ids=GRAPHS)
def test_every_node_s_settings_have_only_fields_of_its_kind(document: dict[str, Any]) -> None:
    for node in decode(document).nodes:
        fields = registry.get(node.kind).config.model_fields
        unknown = set(node.config) - set(fields)
        missing = {name for name, info in fields.items() if info.is_required()} - set(node.config)
        assert not unknown, node.key
        assert not missing, node.key


@pytest.mark.parametrize("document", GRAPHS.values(), ids=GRAPHS)
def test_every_edge_leaves_by_a_port_that_its_source_has(document: dict[str, Any]) -> None:
    graph = decode(document)
    nodes = {node.id: node for node in graph.nodes}
    for edge in graph.edges:
        source = nodes[edge.source]
        assert edge.source_port in {port.name for port in registry.get(source.kind).ports(source.config)}, edge.id
        assert nodes[edge.target].parent == source.parent, edge.id


def test_the_twelve_steps_stand_in_their_order() -> None:
    nodes = [node for node in decode(supplier_invoices()).nodes if node.key in INVOICE_STEPS]
    assert tuple(node.key for node in nodes) == INVOICE_STEPS
    assert [node.name.split()[0] for node in nodes] == [str(number) for number in range(1, 13)]
