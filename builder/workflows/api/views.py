"""Doors: workflows, drafts, versions."""

from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from builder.workflows import selectors, services
from builder.workflows.api import shapes
from builder.workflows.checking import problems_of
from builder.workflows.documents import document_of, read_graph
from builder.workflows.history import history_of
from builder.workflows.models import Version, Workflow
from teams.access import Permission
from teams.api.doors import Door, PageInput


class WorkflowDoor(Door):
    def workflow(self, workspace: str, workflow_id: UUID) -> Workflow:
        return selectors.workflow_for(self.actor, self.workspace(workspace), workflow_id)


class WorkflowsView(Door):
    @extend_schema(operation_id="listWorkflows", parameters=[shapes.WorkflowQuery], responses=shapes.WorkflowList)
    def get(self, request: Request, workspace: str) -> Response:
        """Workflows of the workspace."""
        page = selectors.workflow_page(self.actor, self.workspace(workspace), **self.query(shapes.WorkflowQuery))
        return Response(shapes.WorkflowList(page).data)

    @extend_schema(operation_id="createWorkflow", request=shapes.WorkflowCreate, responses={201: shapes.WorkflowOut})
    def post(self, request: Request, workspace: str) -> Response:
        """A new workflow, with this graph as its draft; without one it has a Start step alone."""
        space = self.workspace(workspace)
        made = services.create_workflow(
            actor=self.actor, workspace=space, **self.read(shapes.WorkflowCreate, needs=Permission.EDIT)
        )
        found = selectors.workflow_for(self.actor, space, made.id)
        return Response(shapes.WorkflowOut(selectors.summary(found)).data, status=201)


class WorkflowView(WorkflowDoor):
    @extend_schema(operation_id="getWorkflow", responses=shapes.WorkflowOut)
    def get(self, request: Request, workspace: str, workflow_id: UUID) -> Response:
        """One workflow."""
        return Response(shapes.WorkflowOut(selectors.summary(self.workflow(workspace, workflow_id))).data)

    @extend_schema(operation_id="updateWorkflow", request=shapes.WorkflowUpdate, responses=shapes.WorkflowOut)
    def patch(self, request: Request, workspace: str, workflow_id: UUID) -> Response:
        """Renames a workflow, archives it, or brings it back."""
        workflow = self.workflow(workspace, workflow_id)
        services.change_workflow(
            actor=self.actor, workflow=workflow, **self.read(shapes.WorkflowUpdate, needs=Permission.EDIT)
        )
        return self.get(request, workspace, workflow_id)


class DraftView(WorkflowDoor):
    @extend_schema(operation_id="getDraft", responses=shapes.DraftOut)
    def get(self, request: Request, workspace: str, workflow_id: UUID) -> Response:
        """The draft, its revision and its problems."""
        return Response(selectors.draft_of(self.workflow(workspace, workflow_id)))

    @extend_schema(operation_id="saveDraft", request=shapes.DraftSave, responses=shapes.DraftOut)
    def put(self, request: Request, workspace: str, workflow_id: UUID) -> Response:
        """Puts a graph in place of the draft, if the draft is still at that revision."""
        workflow = self.workflow(workspace, workflow_id)
        services.save_draft(actor=self.actor, workflow=workflow, **self.read(shapes.DraftSave, needs=Permission.EDIT))
        return Response(selectors.draft_of(workflow))


class CheckView(WorkflowDoor):
    @extend_schema(operation_id="checkGraph", request=shapes.CheckRequest, responses=shapes.CheckAnswer)
    def post(self, request: Request, workspace: str, workflow_id: UUID) -> Response:
        """The problems of a graph that is not saved. Changes nothing."""
        workflow = self.workflow(workspace, workflow_id)
        graph = read_graph(self.read(shapes.CheckRequest, needs=Permission.VIEW)["graph"])
        return Response({"problems": problems_of(graph, workflow.workspace, workflow_id=workflow.id)})


class PublishView(WorkflowDoor):
    @extend_schema(operation_id="publishWorkflow", request=shapes.PublishRequest, responses={201: shapes.VersionOut})
    def post(self, request: Request, workspace: str, workflow_id: UUID) -> Response:
        """Makes the next version of the draft. New runs use it."""
        workflow = self.workflow(workspace, workflow_id)
        version = services.publish(
            actor=self.actor, workflow=workflow, **self.read(shapes.PublishRequest, needs=Permission.EDIT)
        )
        return Response(_with_graph(version), status=201)


class VersionsView(WorkflowDoor):
    @extend_schema(operation_id="listVersions", parameters=[PageInput], responses=shapes.VersionList)
    def get(self, request: Request, workspace: str, workflow_id: UUID) -> Response:
        """Published versions, the newest first."""
        page = selectors.version_page(self.workflow(workspace, workflow_id), **self.query(PageInput))
        return Response(shapes.VersionList(page).data)


class VersionView(WorkflowDoor):
    @extend_schema(operation_id="getVersion", responses=shapes.VersionOut)
    def get(self, request: Request, workspace: str, workflow_id: UUID, number: int) -> Response:
        """One version, with its graph."""
        return Response(_with_graph(selectors.version_for(self.workflow(workspace, workflow_id), number)))


class StepHistoryView(WorkflowDoor):
    @extend_schema(operation_id="getStepHistory", responses=shapes.StepHistory)
    def get(self, request: Request, workspace: str, workflow_id: UUID, node: str) -> Response:
        """Who changed a step, and when: a row for each version that changed it. An unknown step has none."""
        return Response(history_of(self.workflow(workspace, workflow_id), node))


def _with_graph(version: Version) -> dict[str, Any]:
    return {**selectors.version_row(version), "graph": document_of(version.drawn)}
