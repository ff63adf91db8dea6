"""Below /api/."""

from django.urls import path

from sample.api import MailboxView, MailView

urlpatterns = [
    path("workspaces/<slug:ws>/mailbox", MailboxView.as_view(), name="mailbox"),
    path("workspaces/<slug:ws>/mailbox/<str:mail_id>", MailView.as_view(), name="mail"),
]
