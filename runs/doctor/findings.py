"""What the doctor says, decided from plain facts. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from builder.expressions import holds_expression
from builder.graph.model import Graph, Node
from steps.base import StepSpec

State = Literal["ok", "warning", "error"]
RANK: Mapping[str, int] = {"ok": 0, "warning": 1, "error": 2}


@dataclass(frozen=True)
class Finding:
    state: State
    message: str
    node: str | None = None  # id of the step that it is about
    trigger: str | None = None  # id
    upcoming: Sequence[Mapping[str, Any]] = ()  # of a schedule: its next times


@dataclass(frozen=True)
class Check:
    check: str  # changes | problems | triggers | schedules | connections | approvers
    title: str
    findings: Sequence[Finding] = field(default_factory=tuple)

    @property
    def state(self) -> State:
        return worst([each.state for each in self.findings])


def worst(states: Sequence[State]) -> State:
    return max(states, key=RANK.__getitem__, default="ok")


def counted(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


# ------------------------------------------------------------------ the graph


def of_problems(problems: Sequence[Mapping[str, Any]]) -> Check:
    """Errors and warnings one by one; hints are counted."""
    told = [each for each in problems if each["severity"] != "hint"]
    findings = [Finding(each["severity"], each["message"], node=each.get("node")) for each in told]
    hints = len(problems) - len(told)
    if not findings:
        more = f" {counted(hints, 'hint')} in the list of problems." if hints else ""
        findings = [Finding("ok", f"Nothing is wrong with the graph.{more}")]
    return Check("problems", "Graph", tuple(findings))


def of_changes(live: int | None, *, is_same: bool, open_runs: int) -> Check:
    """Against what is live. `open_runs` go on with the versions that they began with."""
    if live is None:
        finding = Finding("ok", "This is the first version.")
    elif is_same:
        finding = Finding("warning", f"The draft is the same as version {live}, which is live: nothing would change.")
    else:
        stay = f" {counted(open_runs, 'run')} that began before will end as they began." if open_runs else ""
        finding = Finding("ok", f"It takes the place of version {live}.{stay}")
    return Check("changes", "Changes", (finding,))


# ------------------------------------------------------------------ people


@dataclass(frozen=True)
class Question:
    """What a step asks people, as far as its settings say."""

    node: Node
    needed: int
    roles: frozenset[str]  # empty: everybody who may approve
    no_self_approval: bool


def questions_of(graph: Graph, specs: Mapping[str, StepSpec]) -> list[Question]:
    return [question_of(node) for node in graph.nodes if asks_people(node, specs)]


def asks_people(node: Node, specs: Mapping[str, StepSpec]) -> bool:
    return node.kind in specs and "roles" in specs[node.kind].config.model_fields


def question_of(node: Node) -> Question:
    needed, roles = node.config.get("approvals_needed", 1), node.config.get("roles", [])
    return Question(
        node,
        needed if type(needed) is int else 1,  # an expression shows in the run
        frozenset(role for role in roles if isinstance(role, str)) if isinstance(roles, list) else frozenset(),
        node.config.get("no_self_approval") is True,
    )


def of_approvers(questions: Sequence[Question], people: Mapping[str, str]) -> Check:
    """`people`: name -> role of each who may answer questions in this workspace at all."""
    found = [of_question(question, people) for question in questions]
    return Check("approvers", "People who answer", tuple(found) or (Finding("ok", "No step asks a person."),))


def of_question(question: Question, people: Mapping[str, str]) -> Finding:
    may = sorted(name for name, role in people.items() if not question.roles or role in question.roles)
    label, node = f'"{question.node.name or question.node.key}"', question.node.id
    whose = f" with the role {' or '.join(sorted(question.roles))}" if question.roles else ""
    if len(may) < question.needed:
        asked = counted(question.needed, "answer")
        there = f"{counted(len(may), 'person') if len(may) == 1 else f'{len(may)} people'}{whose} may answer"
        return Finding("error", f"{label} needs {asked}, and {there}: it would wait for ever.", node=node)
    if question.no_self_approval and len(may) == question.needed:
        who = ", ".join(may)
        message = f"{label} can be answered by {who} alone, and not for a run that one of them started."
        return Finding("warning", message, node=node)
    shown = ", ".join(may[:3]) + (f" and {len(may) - 3} more" if len(may) > 3 else "")
    return Finding("ok", f"{label}: {shown} may answer.", node=node)


# ------------------------------------------------------------------ connections


@dataclass(frozen=True)
class Wanted:
    """A connection that steps name."""

    name: str
    kinds: tuple[str, ...]
    nodes: tuple[Node, ...]


def connections_wanted(graph: Graph, specs: Mapping[str, StepSpec]) -> tuple[list[Wanted], list[Node]]:
    """Those that the settings name, and the steps of which an expression names one in the run."""
    users: dict[str, list[Node]] = {}
    later: list[Node] = []
    for node in graph.nodes:
        name = node.config.get("connection")
        if node.kind not in specs or not specs[node.kind].connection_kinds or not isinstance(name, str) or not name:
            continue
        if holds_expression(name):
            later.append(node)
        else:
            users.setdefault(name, []).append(node)
    named = [Wanted(name, specs[nodes[0].kind].connection_kinds, tuple(nodes)) for name, nodes in users.items()]
    return named, later


def of_connections(
    wanted: Sequence[Wanted], later: Sequence[Node], *, kinds: Mapping[str, str], unreadable: Mapping[str, str]
) -> Check:
    """`kinds`: name -> kind of each that exists. `unreadable`: name -> why it cannot be opened."""
    found = [of_connection(each, kinds.get(each.name), unreadable.get(each.name)) for each in wanted]
    found += [
        Finding("warning", f'Which connection "{node.name or node.key}" uses shows only in the run.', node=node.id)
        for node in later
    ]
    return Check("connections", "Connections", tuple(found) or (Finding("ok", "No step uses a connection."),))


def of_connection(wanted: Wanted, kind: str | None, fault: str | None) -> Finding:
    users = ", ".join(f'"{node.name or node.key}"' for node in wanted.nodes[:3])
    users += f" and {len(wanted.nodes) - 3} more" if len(wanted.nodes) > 3 else ""
    node = wanted.nodes[0].id
    if kind is None:
        return Finding("error", f"There is no connection '{wanted.name}', which {users} would use.", node=node)
    if kind not in wanted.kinds:
        needs = " or ".join(wanted.kinds)
        return Finding("error", f"'{wanted.name}' is of kind {kind}, and {users} needs {needs}.", node=node)
    if fault is not None:
        return Finding("error", f"'{wanted.name}', which {users} would use: {fault}", node=node)
    return Finding("ok", f"'{wanted.name}' ({kind}) is there, for {users}.", node=node)
