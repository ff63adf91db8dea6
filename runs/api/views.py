"""Doors: runs, their steps, and what may be done to them."""

import json
from typing import Any
from uuid import UUID

from django.db import transaction
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from builder.workflows.selectors import workflow_for
from kit.errors import BadInput
from runs import services
from runs.api import breakpoint_shapes, kept_shapes, shapes
from runs.core.breakpoints import from_json
from runs.engine.definitions import definition_of
from runs.engine.scope import Container, beginning_of
from runs.models import Run, StepRun
from runs.selectors import runs as selectors
from runs.selectors import steps, waits
from runs.store.djangos import raw_connection
from teams.access import Permission
from teams.api.doors import Door

IDEMPOTENCY_KEY = OpenApiParameter(
    "Idempotency-Key", str, OpenApiParameter.HEADER, description="The same as the field `idempotency_key`."
)


class RunDoor(Door):
    def run(self, workspace: str, run_id: UUID) -> Run:
        return selectors.run_for(self.actor, self.workspace(workspace), run_id)


class StartView(Door):
    @extend_schema(
        operation_id="startRun",
        parameters=[IDEMPOTENCY_KEY],
        request=shapes.RunStart,
        responses={201: shapes.RunRow, 200: shapes.RunRow},
    )
    def post(self, request: Request, workspace: str, workflow_id: UUID) -> Response:
        """Starts a run. With an idempotency key that was used before, answers that run (200)."""
        space = self.workspace(workspace)
        workflow = workflow_for(self.actor, space, workflow_id)
        wanted = self.read(shapes.RunStart, needs=Permission.RUN)
        started = services.start_run(
            actor=self.actor,
            workflow=workflow,
            run_input=wanted["input"],
            version=wanted["version"],
            idempotency_key=_idempotency_key(request, wanted["idempotency_key"]),
            breakpoints=from_json(wanted["breakpoints"]),
            deadline_s=wanted["deadline_s"],
            priority=wanted["priority"],
            limit=(wanted["limit"]["key"], wanted["limit"]["at_most"]) if wanted["limit"] else None,
        )
        run = selectors.run_for(self.actor, space, started.run_id)
        return Response(selectors.rows_of([run])[0], status=201 if started.is_new else 200)


def _idempotency_key(request: Request, field: str | None) -> str | None:
    """From the header, as programs send it that do so for every request, or from the body's field."""
    header = request.headers.get("Idempotency-Key") or None
    if header is None or header == field:
        return field
    unfit = f"The header Idempotency-Key is not made of 1 to {shapes.LONGEST_KEY} printable characters."
    problem = "The header Idempotency-Key says something else." if field else unfit
    if field or len(header) > shapes.LONGEST_KEY or not header.isprintable():
        raise BadInput(problem, fields=[{"field": "idempotency_key", "message": problem}])
    return header


class RunView(RunDoor):
    @extend_schema(operation_id="getRun", responses=shapes.Snapshot)
    def get(self, request: Request, workspace: str, run_id: UUID) -> Response:
        """Run, graph and steps as of one moment; `seq` is the number of the last event that they contain."""
        return Response(selectors.snapshot(self.run(workspace, run_id)))


class EventsView(RunDoor):
    @extend_schema(operation_id="listEvents", parameters=[shapes.EventQuery], responses=shapes.EventList)
    def get(self, request: Request, workspace: str, run_id: UUID) -> Response:
        """A run's events after a number, in their order and without a gap."""
        return Response(selectors.events_after(self.run(workspace, run_id), self.query(shapes.EventQuery)["after"]))


class StepView(RunDoor):
    @extend_schema(operation_id="getStep", responses=shapes.StepDetail)
    def get(self, request: Request, workspace: str, run_id: UUID, path: str) -> Response:
        """A step: input, output, attempts, what its body kept, its questions and files, and what it waits for."""
        run = self.run(workspace, run_id)
        step = steps.step_for(run, path)
        return Response(steps.step_detail(run, step, output=_output(run, step)))


class LogsView(RunDoor):
    @extend_schema(operation_id="getLog", parameters=[shapes.LogQuery], responses=kept_shapes.LogPage)
    def get(self, request: Request, workspace: str, run_id: UUID, path: str) -> Response:
        """A piece of an attempt's log."""
        run = self.run(workspace, run_id)
        return Response(steps.log_page(run, steps.step_for(run, path), **self.query(shapes.LogQuery)))


class ItemsView(RunDoor):
    @extend_schema(operation_id="listItems", parameters=[shapes.ItemQuery], responses=shapes.StepList)
    def get(self, request: Request, workspace: str, run_id: UUID, path: str) -> Response:
        """The steps inside a container, item by item."""
        run = self.run(workspace, run_id)
        return Response(steps.item_page(run, steps.step_for(run, path), **self.query(shapes.ItemQuery)))


class ResumeView(RunDoor):
    @extend_schema(operation_id="resumeRun", request=shapes.ResumeIn, responses=shapes.Resumed)
    def post(self, request: Request, workspace: str, run_id: UUID) -> Response:
        """What failed, was blocked or stopped runs again, and what was skipped because of that; nothing else does."""
        run = self.run(workspace, run_id)
        return Response(
            services.resume_run(actor=self.actor, run=run, **self.read(shapes.ResumeIn, needs=Permission.RUN))
        )


class CancelView(RunDoor):
    @extend_schema(operation_id="cancelRun", request=shapes.CancelIn, responses=shapes.StatusOut)
    def post(self, request: Request, workspace: str, run_id: UUID) -> Response:
        """What is open stops; what has finished stays. The run can be resumed."""
        run = self.run(workspace, run_id)
        return Response(
            services.cancel_run(actor=self.actor, run=run, **self.read(shapes.CancelIn, needs=Permission.RUN))
        )


class PauseView(RunDoor):
    @extend_schema(operation_id="pauseRun", request=breakpoint_shapes.CommandIn, responses=shapes.StatusOut)
    def post(self, request: Request, workspace: str, run_id: UUID) -> Response:
        """Nothing starts from now on. What runs ends, and its result is taken."""
        run = self.run(workspace, run_id)
        return Response(
            services.pause_run(
                actor=self.actor, run=run, **self.read(breakpoint_shapes.CommandIn, needs=Permission.RUN)
            )
        )


class UnpauseView(RunDoor):
    @extend_schema(operation_id="unpauseRun", request=breakpoint_shapes.CommandIn, responses=shapes.StatusOut)
    def post(self, request: Request, workspace: str, run_id: UUID) -> Response:
        """Lets the run go on, past the steps that a breakpoint holds just now."""
        run = self.run(workspace, run_id)
        return Response(
            services.unpause_run(
                actor=self.actor, run=run, **self.read(breakpoint_shapes.CommandIn, needs=Permission.RUN)
            )
        )


class BreakpointsView(RunDoor):
    @extend_schema(
        operation_id="setBreakpoints",
        request=breakpoint_shapes.BreakpointsIn,
        responses=breakpoint_shapes.BreakpointsOut,
    )
    def put(self, request: Request, workspace: str, run_id: UUID) -> Response:
        """The steps before which the run pauses, in place of all that were named before."""
        run = self.run(workspace, run_id)
        wanted = self.read(breakpoint_shapes.BreakpointsIn, needs=Permission.RUN)
        done = services.set_breakpoints(
            actor=self.actor,
            run=run,
            command_id=wanted["command_id"],
            breakpoints=from_json(wanted["breakpoints"]),
        )
        return Response(done)


class DecideView(RunDoor):
    @extend_schema(operation_id="decideStep", request=shapes.DecideIn, responses=shapes.StatusOut)
    def post(self, request: Request, workspace: str, run_id: UUID, path: str) -> Response:
        """What became of an at-most-once step whose outcome nobody knows."""
        run = self.run(workspace, run_id)
        return Response(
            services.decide_step(
                actor=self.actor, run=run, path=path, **self.read(shapes.DecideIn, needs=Permission.RUN)
            )
        )


class WaitsView(Door):
    @extend_schema(operation_id="listWaits", parameters=[shapes.WaitQuery], responses=shapes.WaitList)
    def get(self, request: Request, workspace: str) -> Response:
        """Open questions to people."""
        space = self.workspace(workspace)
        return Response(waits.wait_page(self.actor, space, **self.query(shapes.WaitQuery)))


class AnswerView(Door):
    @extend_schema(operation_id="answerWait", request=shapes.AnswerIn, responses=shapes.Answered)
    def post(self, request: Request, workspace: str, wait_id: UUID) -> Response:
        """Answers an approval or a form."""
        wait = waits.wait_for(self.actor, self.workspace(workspace), wait_id)
        return Response(
            services.answer_wait(actor=self.actor, wait=wait, **self.read(shapes.AnswerIn, needs=Permission.APPROVE))
        )


def _output(run: Run, step: StepRun) -> dict[str, Any]:
    """A container's output is a view over its items, of which no more is read than is shown."""
    if step.item_total is None or step.status != "succeeded" or step.origin == "manual":
        return steps.value_shape(step.output, step.output_ref)
    with transaction.atomic():
        connection = raw_connection()
        definition = definition_of(connection, run.version_id)
        limit = steps.VALUE_LIMIT
        ref = None if step.output_ref is None else bytes(step.output_ref)
        container = Container(step.id, step.item_gather, step.item_cursor, step.output, ref)
        value, size = beginning_of(connection, definition, step.key, container=container, characters=limit)
    shape = steps.value_shape(json.dumps(value), None)
    return shape if size is None else {**shape, "size": max(size, shape["size"])}
