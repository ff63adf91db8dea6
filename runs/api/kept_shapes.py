"""The API's shapes of what is kept of a step beside its result."""

from typing import Any

from rest_framework import serializers

from teams.api.doors import AnyJson


class Value(serializers.Serializer[Any]):
    value = AnyJson()
    size = serializers.IntegerField()
    truncated = serializers.BooleanField()


class CheckpointOut(serializers.Serializer[Any]):
    key = serializers.CharField()
    kind = serializers.ChoiceField(choices=["once", "partial", "cursor", "progress", "act"])
    value = AnyJson()
    attempt = serializers.IntegerField()
    at = serializers.DateTimeField()


class LogTime(serializers.Serializer[Any]):
    offset = serializers.IntegerField(help_text="In bytes of UTF-8, of the whole log.")
    at = serializers.DateTimeField()


class LogPage(serializers.Serializer[Any]):
    text = serializers.CharField()
    next_offset = serializers.IntegerField()
    times = LogTime(many=True, help_text="When which part of the text was written, in its order.")
    complete = serializers.BooleanField()


class ArtifactOut(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    name = serializers.CharField()
    media_type = serializers.CharField()
    size = serializers.IntegerField()
    sha256 = serializers.CharField()
    attempt = serializers.IntegerField()
    at = serializers.DateTimeField()


class ReusedFrom(serializers.Serializer[Any]):
    run = serializers.UUIDField()
    number = serializers.IntegerField()
    path = serializers.CharField()
