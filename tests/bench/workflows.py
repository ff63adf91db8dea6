"""The workflows that the bench runs, and who owns them."""

import json
from dataclasses import dataclass
from typing import Any

from builder.graph.codec import encode
from builder.graph.model import Graph
from builder.workflows.models import Draft, Version, Workflow
from config.services import keys
from teams.access import SYSTEM
from teams.models import User, Workspace
from teams.services import create_user, create_workspace
from tests.graphs import draw

EMAIL = "bench@pawl.local"
SLUG = "bench"
STEPS = 12
ITEMS = 100
INPUT = {"number": 7, "text": "seven"}
NAMES = [f"s{number}" for number in range(1, STEPS + 1)]


@dataclass(frozen=True)
class Workshop:
    """A workspace with a member who can sign in."""

    workspace: Workspace
    user: User
    password: str


def open_workshop() -> Workshop:
    password = keys.password()
    user = create_user(actor=SYSTEM, email=EMAIL, name="Bench", password=password)
    return Workshop(create_workspace(actor=SYSTEM, name="Bench", slug=SLUG, owner=user), user, password)


def publish(workspace: Workspace, name: str, graph: Graph) -> Version:
    """Straight into the tables: this process does not know the bench's own kinds."""
    text = json.dumps(encode(graph))
    workflow = Workflow.objects.create(workspace=workspace, name=name)
    Draft.objects.create(workflow=workflow, graph=text)
    return Version.objects.create(workflow=workflow, number=1, graph=text)


def chain(kind: str = "pass_through", *, steps: int = STEPS) -> Graph:
    """Each step gives on what the one before gave; the first, what the run was given."""
    names = [f"s{number}" for number in range(1, steps + 1)]
    sources = ["run.input", *(f"steps.{name}.output" for name in names)]
    configs: dict[str, dict[str, Any]] = {
        name: {"value": f"{{{{ {source} }}}}"} for name, source in zip(names, sources, strict=False)
    }
    return draw(" > ".join(["S", *names]), plain=kind, configs=configs)


def fan_out() -> Graph:
    configs = {
        "each": {"items": "{{ run.input.items }}"},
        "item": {"value": "{{ item }}"},
        "join": {"value": "{{ steps.each.output }}"},
    }
    return draw("S > each:map[item] > join", plain="pass_through", configs=configs)
