"""What the doctor says of plain facts."""

from typing import Any

import pytest

from builder.graph.model import Node
from runs.doctor.findings import (
    Check,
    Finding,
    Question,
    connections_wanted,
    of_approvers,
    of_changes,
    of_connections,
    of_problems,
    questions_of,
    worst,
)
from steps import registry
from tests.graphs import draw

SPECS = registry.all_specs()
PEOPLE = {"Ana": "owner", "Ben": "operator", "Cleo": "operator", "Dan": "admin"}


def told(check: Check) -> list[tuple[str, str]]:
    return [(finding.state, finding.message) for finding in check.findings]


def test_a_check_is_as_bad_as_its_worst_finding() -> None:
    assert Check("x", "X", (Finding("ok", ""), Finding("error", ""), Finding("warning", ""))).state == "error"
    assert worst([]) == "ok"


def test_problems_are_told_and_hints_are_counted() -> None:
    problems = [
        {"code": "a", "severity": "error", "message": "No start."},
        {"code": "b", "severity": "warning", "message": "No limit.", "node": "n1"},
        {"code": "c", "severity": "hint", "message": "Nobody reads it.", "node": "n1"},
    ]
    assert told(of_problems(problems)) == [("error", "No start."), ("warning", "No limit.")]
    assert of_problems(problems).findings[1].node == "n1"
    assert told(of_problems(problems[2:])) == [
        ("ok", "Nothing is wrong with the graph. 1 hint in the list of problems.")
    ]
    assert told(of_problems([])) == [("ok", "Nothing is wrong with the graph.")]


@pytest.mark.parametrize(
    ("live", "facts", "state", "says"),
    [
        (None, {"is_same": False, "open_runs": 0}, "ok", "the first version"),
        (3, {"is_same": True, "open_runs": 2}, "warning", "the same as version 3"),
        (3, {"is_same": False, "open_runs": 2}, "ok", "2 runs that began before"),
        (3, {"is_same": False, "open_runs": 0}, "ok", "the place of version 3."),
    ],
)
def test_changes_are_told_against_what_is_live(live: int | None, facts: Any, state: str, says: str) -> None:
    ((found, message),) = told(of_changes(live, **facts))
    assert found == state
    assert says in message


# ------------------------------------------------------------------ people


def question(needed: int = 1, *roles: str, no_self_approval: bool = False) -> Question:
    return Question(Node("n1", "pay", "approval", "Pay?"), needed, frozenset(roles), no_self_approval)


@pytest.mark.parametrize(
    ("asked", "state", "says"),
    [
        (question(), "ok", '"Pay?": Ana, Ben, Cleo and 1 more may answer.'),
        (question(2, "operator"), "ok", '"Pay?": Ben, Cleo may answer.'),
        (question(3, "operator"), "error", '"Pay?" needs 3 answers, and 2 people with the role operator may answer'),
        (question(2, "admin"), "error", "1 person with the role admin may answer: it would wait for ever."),
        (question(1, "viewer", "editor"), "error", "needs 1 answer, and 0 people with the role editor or viewer"),
        (question(1, "admin", no_self_approval=True), "warning", "by Dan alone, and not for a run that one of them"),
        (question(1, "operator", no_self_approval=True), "ok", "Ben, Cleo may answer."),
    ],
)
def test_there_must_be_enough_people(asked: Question, state: str, says: str) -> None:
    ((found, message),) = told(of_approvers([asked], PEOPLE))
    assert found == state
    assert says in message


def test_questions_are_read_from_the_settings_as_far_as_they_show() -> None:
    graph = draw(
        "S > A:approval > F:form > B:approval > T",
        configs={
            "A": {"approvals_needed": 2, "roles": ["admin"], "no_self_approval": True},
            "B": {"approvals_needed": "{{ run.input.n }}", "roles": "{{ run.input.roles }}"},
        },
    )
    found = questions_of(graph, SPECS)
    assert [(each.node.key, each.needed, sorted(each.roles), each.no_self_approval) for each in found] == [
        ("A", 2, ["admin"], True),
        ("F", 1, [], False),
        ("B", 1, [], False),
    ]
    assert told(of_approvers([], PEOPLE)) == [("ok", "No step asks a person.")]


# ------------------------------------------------------------------ connections


def connections(**configs: Any) -> list[tuple[str, str]]:
    graph = draw("S > A:http_request > B:http_request > M:email > T", configs=configs)
    wanted, later = connections_wanted(graph, SPECS)
    kinds = {"api": "http", "mail": "smtp", "old": "http"}
    return told(of_connections(wanted, later, kinds=kinds, unreadable={"old": "No key opens it."}))


def test_each_connection_is_told_once_with_who_uses_it() -> None:
    assert connections(A={"connection": "api"}, B={"connection": "api"}, M={"connection": "mail"}) == [
        ("ok", '\'api\' (http) is there, for "A", "B".'),
        ("ok", "'mail' (smtp) is there, for \"M\"."),
    ]
    assert connections(T={"connection": "api"}) == [("ok", "No step uses a connection.")]


@pytest.mark.parametrize(
    ("config", "state", "says"),
    [
        ({"connection": "gone"}, "error", "There is no connection 'gone', which \"A\" would use."),
        ({"connection": "mail"}, "error", "'mail' is of kind smtp, and \"A\" needs http."),
        ({"connection": "old"}, "error", "'old', which \"A\" would use: No key opens it."),
        ({"connection": "{{ run.input.c }}"}, "warning", 'Which connection "A" uses shows only in the run.'),
    ],
)
def test_what_is_amiss_with_a_connection(config: Any, state: str, says: str) -> None:
    assert connections(A=config) == [(state, says)]


def test_many_users_of_a_connection_are_cut() -> None:
    graph = draw("S > A > B > C > D", kinds=dict.fromkeys("ABCD", "http_request"),
                 configs={key: {"connection": "api"} for key in "ABCD"})  # fmt: skip
    wanted, later = connections_wanted(graph, SPECS)
    ((_, message),) = told(of_connections(wanted, later, kinds={"api": "http"}, unreadable={}))
    assert message == '\'api\' (http) is there, for "A", "B", "C" and 1 more.'
