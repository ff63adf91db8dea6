"""Doors: the step library, as the palette and the forms need it."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from drf_spectacular.utils import PolymorphicProxySerializer, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from builder.workflows.api import shapes
from builder.workflows.api.views import WorkflowDoor
from steps import registry
from steps.base import Execution, StepSpec
from teams.access import Permission
from teams.api.doors import Door


class StepKindsView(Door):
    @extend_schema(operation_id="listStepKinds", responses=shapes.StepKindList)
    def get(self, request: Request, workspace: str) -> Response:
        """Every kind of step that is installed, with the schema of its settings."""
        self.workspace(workspace)
        return Response({"items": [_as_json(spec) for spec in registry.all_specs().values()]})


class DescribeView(WorkflowDoor):
    @extend_schema(
        operation_id="describeNodes",
        request=shapes.DescribeRequest,
        responses=PolymorphicProxySerializer(
            "Described", [shapes.DescribeAnswer, shapes.DescribeAnswers], resource_type_field_name=None
        ),
    )
    def post(self, request: Request, workspace: str, workflow_id: UUID) -> Response:
        """The line under the name and the ports of a node that is edited, or of all that a canvas opens with."""
        self.workflow(workspace, workflow_id)
        asked = self.read(shapes.DescribeRequest, needs=Permission.VIEW)
        if "nodes" in asked:
            return Response({"items": [_described_or_none(**node) for node in asked["nodes"]]})
        return Response(_described(registry.get(asked["kind"]), asked["config"]))


def _described(spec: StepSpec, config: Mapping[str, Any]) -> dict[str, Any]:
    return {"description": spec.describe(config), "ports": _ports(spec, config)}


def _described_or_none(kind: str, config: Mapping[str, Any]) -> dict[str, Any] | None:
    """One node of a kind that is gone must not take the words from all the others."""
    spec = registry.all_specs().get(kind)
    return _described(spec, config) if spec else None


def _ports(spec: StepSpec, config: Mapping[str, Any]) -> list[dict[str, str]]:
    return [{"name": port.name, "title": port.title} for port in spec.ports(config)]


def _as_json(spec: StepSpec) -> dict[str, Any]:
    return {
        "kind": spec.kind,
        "title": spec.title,
        "group": spec.group,
        "icon": spec.icon,
        "summary": spec.summary,
        "schema": registry.schema(spec.kind),
        "ports": _ports(spec, {}),
        "delivery": spec.delivery.value,
        "execution": spec.execution.value,
        "has_input": spec.has_input,
        "gives": list(spec.gives) if spec.execution is Execution.CONTAINER else [],
        "connection_kinds": list(spec.connection_kinds),
        "default_limit_s": spec.default_limit_s,
        "readme": registry.readme(spec.kind),
    }
