"""The mailbox as JSON."""

from typing import Any

from rest_framework import serializers


class MailSerializer(serializers.Serializer[Any]):
    id = serializers.CharField()
    subject = serializers.CharField()
    sender = serializers.CharField()
    to = serializers.CharField()
    received_at = serializers.DateTimeField()
    message_id = serializers.CharField()
    idempotency_key = serializers.CharField()


class MailListSerializer(serializers.Serializer[Any]):
    items = MailSerializer(many=True)
    next = serializers.CharField(allow_null=True, help_text="Always null: the newest 200 are listed.")


class OpenedMailSerializer(serializers.Serializer[Any]):
    mail = MailSerializer()
    text = serializers.CharField(help_text="The plain text part, 100,000 characters at most.")
    has_html = serializers.BooleanField(help_text="Whether there is an HTML part, which is never given out.")
    attachments = serializers.ListField(
        child=serializers.CharField(), help_text="Their file names, as the sender says."
    )
