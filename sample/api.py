"""The local mailbox's two pages: doors only. The mailbox is the demo's, so only members of its workspace see it."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from kit.errors import NotFound
from sample.mailbox import list_mails, read_mail
from sample.serializers import MailListSerializer, OpenedMailSerializer
from sample.settings import DEMO_WORKSPACE, mails_folder
from teams.access import Permission, person, require, workspace_for
from teams.models import User


class NoMailbox(NotFound):
    code = "no_mailbox"


def _admit(request: Request, ws: str) -> None:
    """Raises NotFound for strangers, and for workspaces that the local mailbox does not belong to."""
    assert isinstance(request.user, User)  # IsAuthenticated is the API's default
    actor = person(request.user)
    require(actor, Permission.VIEW, workspace_for(actor, ws))
    if ws != DEMO_WORKSPACE or not mails_folder().is_dir():
        raise NoMailbox("The local mailbox belongs to the demo's workspace, and exists only where `make run` runs it.")


class MailboxView(APIView):
    @extend_schema(responses=MailListSerializer, operation_id="list_mails")
    def get(self, request: Request, ws: str) -> Response:
        _admit(request, ws)
        return Response(MailListSerializer({"items": list_mails(mails_folder()), "next": None}).data)


class MailView(APIView):
    @extend_schema(responses=OpenedMailSerializer, operation_id="read_mail")
    def get(self, request: Request, ws: str, mail_id: str) -> Response:
        _admit(request, ws)
        return Response(OpenedMailSerializer(read_mail(mails_folder(), mail_id)).data)
