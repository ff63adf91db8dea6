"""Below /api/."""

from django.urls import path

from sample.api import MailboxView, MailView

urlpatterns = [
    path("workspaces/<slug:workspace>/mailbox", MailboxView.as_view(), name="mailbox"),
    path("workspaces/<slug:workspace>/mailbox/<str:mail_id>", MailView.as_view(), name="mail"),
]
