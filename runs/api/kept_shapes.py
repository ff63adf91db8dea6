"""The API's shapes of what is kept of a step beside its result."""

from typing import Any

from rest_framework import serializers


class ArtifactOut(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    name = serializers.CharField()
    media_type = serializers.CharField()
    size = serializers.IntegerField()
    sha256 = serializers.CharField()
    attempt = serializers.IntegerField()
    at = serializers.DateTimeField()
