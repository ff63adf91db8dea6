"""The local mailbox's two pages: doors only. The mailbox is the demo's, so only members of its workspace see it."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from kit.errors import NotFound
from sample.mailbox import list_mails, read_mail
from sample.serializers import MailListSerializer, OpenedMailSerializer
from sample.settings import DEMO_WORKSPACE, mails_folder
from teams.access import Permission, require
from teams.api.doors import Door


class NoMailbox(NotFound):
    code = "no_mailbox"


class _MailboxDoor(Door):
    def admit(self, workspace: str) -> None:
        """Raises NotFound for strangers, and for workspaces that the local mailbox does not belong to."""
        require(self.actor, Permission.VIEW, self.workspace(workspace))
        if workspace != DEMO_WORKSPACE or not mails_folder().is_dir():
            raise NoMailbox("The local mailbox belongs to the demo's workspace, and is only where `make run` runs it.")


class MailboxView(_MailboxDoor):
    @extend_schema(operation_id="listMails", responses=MailListSerializer)
    def get(self, request: Request, workspace: str) -> Response:
        """The mails that the local mailbox took, the newest first."""
        self.admit(workspace)
        return Response(MailListSerializer({"items": list_mails(mails_folder()), "next": None}).data)


class MailView(_MailboxDoor):
    @extend_schema(operation_id="readMail", responses=OpenedMailSerializer)
    def get(self, request: Request, workspace: str, mail_id: str) -> Response:
        """One mail of the local mailbox."""
        self.admit(workspace)
        return Response(OpenedMailSerializer(read_mail(mails_folder(), mail_id)).data)
