"""Doors: questions to people, one by one."""

from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from runs.api.shapes import InboxWait
from runs.selectors import waits
from teams.api.doors import Door


class WaitView(Door):
    @extend_schema(operation_id="getWait", responses=InboxWait)
    def get(self, request: Request, workspace: str, wait_id: UUID) -> Response:
        """An open or closed question: what a link in a mail leads to. Looking at it answers nothing."""
        space = self.workspace(workspace)
        return Response(waits.wait_detail(self.actor, space, wait_id))
