"""Doors: what is kept, and for how long."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from uuid import UUID

from django.http import StreamingHttpResponse
from django.utils.http import content_disposition_header
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from runs import services
from runs.api.kept_shapes import ArtifactOut
from runs.api.shapes import Out
from runs.api.views import RunDoor
from runs.artifacts import place_of
from runs.selectors import keeping, steps
from teams.access import Permission
from teams.api.doors import Door, Input

LONGEST_DAYS = 3650
CHUNK_BYTES = 256 * 1024


class ArtifactList(Out):
    items = ArtifactOut(many=True)
    next = serializers.CharField(allow_null=True)


class ArtifactsView(RunDoor):
    @extend_schema(operation_id="listArtifacts", responses=ArtifactList)
    def get(self, request: Request, workspace: str, run_id: UUID, path: str) -> Response:
        """Files that the step's attempts made."""
        step = steps.step_for(self.run(workspace, run_id), path)
        return Response({"items": keeping.artifacts_of(step), "next": None})


class ArtifactView(RunDoor):
    @extend_schema(operation_id="getArtifact", responses={(200, "application/octet-stream"): OpenApiTypes.BINARY})
    def get(self, request: Request, workspace: str, run_id: UUID, artifact_id: int) -> StreamingHttpResponse:
        """The file, always as a download: what a step has fetched from somewhere must never run as a page of ours."""
        run = self.run(workspace, run_id)
        artifact = keeping.artifact_for(run, artifact_id)
        place = place_of(run.workspace_id, bytes(artifact.file.sha256))
        if not place.is_file():
            raise keeping.ArtifactNotFound("The artifact's file is not where this server looks for it.")
        headers = {
            "Content-Length": str(artifact.file.size),
            "Content-Disposition": content_disposition_header(as_attachment=True, filename=artifact.name)
            or "attachment",
            "Content-Security-Policy": "default-src 'none'; sandbox",
            "X-Content-Type-Options": "nosniff",
            "Cache-Control": "private, no-store",
        }
        return StreamingHttpResponse(_read(place), content_type=artifact.media_type, headers=headers)


async def _read(place: Path) -> AsyncIterator[bytes]:
    """In pieces: a synchronous iterator would be read whole before the first byte leaves."""
    file = await asyncio.to_thread(place.open, "rb")
    try:
        while chunk := await asyncio.to_thread(file.read, CHUNK_BYTES):
            yield chunk
    finally:
        file.close()


class RetentionIn(Input):
    days = serializers.IntegerField(
        allow_null=True, min_value=0, max_value=LONGEST_DAYS, help_text="0: for ever. null: as the installation says."
    )


class RetentionOut(Out):
    days = serializers.IntegerField(allow_null=True)
    effective_days = serializers.IntegerField(help_text="0: for ever.")
    changed_at = serializers.DateTimeField(allow_null=True)
    changed_by = serializers.CharField(allow_null=True)


class RetentionView(Door):
    @extend_schema(operation_id="getRetention", responses=RetentionOut)
    def get(self, request: Request, workspace: str) -> Response:
        """For how long the workspace's ended runs are kept."""
        return Response(keeping.retention_of(self.actor, self.workspace(workspace)))

    @extend_schema(operation_id="setRetention", request=RetentionIn, responses=RetentionOut)
    def put(self, request: Request, workspace: str) -> Response:
        """How many days final runs are kept. What has expired goes soon after, and does not come back."""
        space = self.workspace(workspace)
        services.set_retention(
            actor=self.actor, workspace=space, days=self.read(RetentionIn, needs=Permission.MANAGE_WORKSPACE)["days"]
        )
        return Response(keeping.retention_of(self.actor, space))
