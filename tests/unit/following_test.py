"""What comes next on each answer to a question."""

from runs.selectors.following import following

GRAPH = {
    "nodes": [
        {"id": "m", "key": "each", "name": "For each", "kind": "map"},
        {"id": "a", "key": "ask", "kind": "approval", "parent": "m"},
        {"id": "p", "key": "pay", "name": "Pay it", "kind": "http_request", "parent": "m"},
        {"id": "f", "key": "form", "kind": "form"},
        {"id": "z", "key": "last", "kind": "pass_through"},
    ],
    "edges": [
        {"id": "1", "source": "a", "source_port": "approved", "target": "p"},
        {"id": "2", "source": "a", "source_port": "approved", "target": "p"},
        {"id": "3", "source": "a", "source_port": "error", "target": "p"},
        {"id": "4", "source": "f", "target": "z"},
        {"id": "5", "source": "f", "target": "gone"},
    ],
}


def test_an_approval_names_the_next_steps_of_both_its_ports_and_the_container_it_is_in() -> None:
    assert following(GRAPH, "a", "approval") == {
        "ports": [
            {"port": "approved", "steps": [{"key": "pay", "name": "Pay it", "kind": "http_request"}], "more": 0},
            {"port": "rejected", "steps": [], "more": 0},
        ],
        "inside": "For each",
    }


def test_a_form_leaves_by_one_port_and_an_edge_to_nothing_is_none() -> None:
    (port,) = following(GRAPH, "f", "form")["ports"]
    assert (port["port"], [step["name"] for step in port["steps"]]) == ("out", ["last"])


def test_more_than_twenty_next_steps_are_counted() -> None:
    nodes = [{"id": str(n), "key": f"n{n}", "kind": "delay"} for n in range(26)]
    edges = [{"id": f"e{n}", "source": "0", "target": str(n)} for n in range(1, 26)]
    (port,) = following({"nodes": nodes, "edges": edges}, "0", "form")["ports"]
    assert (len(port["steps"]), port["more"]) == (20, 5)


def test_a_node_that_is_not_in_the_graph_has_no_ports() -> None:
    assert following({}, "a", "approval") == {"ports": [], "inside": None}
