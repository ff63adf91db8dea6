"""The API's shapes of questions to people, beside what a step shows of its waits."""

from rest_framework import serializers


class NextStep(serializers.Serializer[object]):
    key = serializers.CharField()
    name = serializers.CharField()
    kind = serializers.CharField()


class NextOfPort(serializers.Serializer[object]):
    port = serializers.CharField()
    steps = NextStep(many=True)
    more = serializers.IntegerField(help_text="Further steps, that are not named.")


class Follows(serializers.Serializer[object]):
    """What runs after each answer, by the graph of the run's version."""

    ports = NextOfPort(many=True)
    inside = serializers.CharField(allow_null=True, help_text="The name of the container whose item it belongs to.")
