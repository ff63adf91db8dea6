"""What goes in and out of the doors to workflows."""

from typing import Any, get_args

from rest_framework import serializers

from builder.graph.model import SCHEMA_VERSION
from builder.validation.fixes import What
from steps.base import Delivery, Execution
from teams.api.doors import AnyJson, Input, PageInput

MOST_DESCRIBED = 1000  # nodes in one call


class GraphField(serializers.JSONField):
    """A graph document; builder/graph/codec.py reads it and names every fault."""


class GraphNode(serializers.Serializer[Any]):
    id = serializers.CharField()
    key = serializers.CharField()
    name = serializers.CharField()
    kind = serializers.CharField()
    config = serializers.DictField(child=AnyJson())
    policy = serializers.DictField(child=AnyJson())
    parent = serializers.CharField(allow_null=True)  # type: ignore[assignment] # the framework's own `parent` is per object
    position = serializers.DictField(child=serializers.FloatField())
    disabled = serializers.BooleanField(required=False)


class GraphEdge(serializers.Serializer[Any]):
    id = serializers.CharField()
    source = serializers.CharField()  # type: ignore[assignment]
    source_port = serializers.CharField()
    target = serializers.CharField()


class GraphNote(serializers.Serializer[Any]):
    id = serializers.CharField()
    text = serializers.CharField(help_text="Markdown.")
    colour = serializers.CharField()
    position = serializers.DictField(child=serializers.FloatField())
    size = serializers.DictField(child=serializers.FloatField())


class GraphGroup(serializers.Serializer[Any]):
    id = serializers.CharField()
    name = serializers.CharField()
    members = serializers.ListField(child=serializers.CharField(), help_text="Ids of nodes and notes.")
    collapsed = serializers.BooleanField()


class GraphOut(serializers.Serializer[Any]):
    schema = serializers.IntegerField(default=SCHEMA_VERSION)
    nodes = GraphNode(many=True)
    edges = GraphEdge(many=True)
    notes = GraphNote(many=True, required=False)
    groups = GraphGroup(many=True, required=False)


class FixActOut(serializers.Serializer[Any]):
    """What each act means: builder/validation/fixes.py."""

    act = serializers.ChoiceField(choices=list(get_args(What)))
    node = serializers.CharField(required=False)
    edge = serializers.CharField(required=False)
    field = serializers.CharField(required=False)
    port = serializers.CharField(required=False)
    target = serializers.CharField(required=False)
    was = serializers.CharField(required=False)
    value = AnyJson(required=False)


class FixOut(serializers.Serializer[Any]):
    title = serializers.CharField()
    acts = FixActOut(many=True)


class GraphProblem(serializers.Serializer[Any]):
    code = serializers.CharField()
    severity = serializers.ChoiceField(choices=["error", "warning", "hint"])
    message = serializers.CharField()
    node = serializers.CharField(required=False)
    field = serializers.CharField(required=False)
    edge = serializers.CharField(required=False)
    fix = FixOut(required=False, help_text="What one click mends.")


class LastRunOut(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    number = serializers.IntegerField()
    status = serializers.CharField()
    started_at = serializers.DateTimeField()


class WorkflowOut(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    name = serializers.CharField()
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()
    updated_by = serializers.CharField(allow_null=True)
    archived_at = serializers.DateTimeField(allow_null=True)
    live_version = serializers.IntegerField(allow_null=True)
    draft_revision = serializers.IntegerField()
    last_run = LastRunOut(allow_null=True)


class WorkflowList(serializers.Serializer[Any]):
    items = WorkflowOut(many=True)
    next = serializers.CharField(allow_null=True)


class WorkflowQuery(PageInput):
    q = serializers.CharField(required=False, max_length=200, help_text="Part of the name.")
    archived = serializers.BooleanField(required=False, default=False)


class WorkflowCreate(Input):
    name = serializers.CharField(max_length=200)
    graph = GraphField(required=False)


class WorkflowUpdate(Input):
    name = serializers.CharField(max_length=200, required=False)
    archived = serializers.BooleanField(required=False)


class DraftOut(serializers.Serializer[Any]):
    revision = serializers.IntegerField()
    graph = GraphOut()
    problems = GraphProblem(many=True)
    updated_at = serializers.DateTimeField()
    updated_by = serializers.CharField(allow_null=True)


class DraftSave(Input):
    revision = serializers.IntegerField(min_value=1)
    graph = GraphField()


class CheckRequest(Input):
    graph = GraphField()


class CheckAnswer(serializers.Serializer[Any]):
    problems = GraphProblem(many=True)


class PublishRequest(Input):
    revision = serializers.IntegerField(min_value=1)
    note = serializers.CharField(required=False, default="", allow_blank=True, max_length=500)
    again = serializers.BooleanField(
        required=False, default=False, help_text="Also where the draft is the same as the newest version."
    )


class VersionRow(serializers.Serializer[Any]):
    number = serializers.IntegerField()
    note = serializers.CharField()
    published_at = serializers.DateTimeField()
    published_by = serializers.CharField(allow_null=True)


class VersionOut(VersionRow):
    graph = GraphOut()


class VersionList(serializers.Serializer[Any]):
    items = VersionRow(many=True)
    next = serializers.CharField(allow_null=True)


class StepStateOut(serializers.Serializer[Any]):
    number = serializers.IntegerField(allow_null=True, help_text="Of the version; null for the draft.")
    note = serializers.CharField(allow_blank=True)
    at = serializers.DateTimeField()
    by = serializers.CharField(allow_null=True)
    node = GraphNode(allow_null=True, help_text="What the step was from then on; null where it was taken out.")


class StepHistory(serializers.Serializer[Any]):
    items = StepStateOut(many=True)
    since = serializers.IntegerField(allow_null=True, help_text="The oldest version that was looked at.")


class PortOut(serializers.Serializer[Any]):
    name = serializers.CharField()
    title = serializers.CharField()


class StepKindOut(serializers.Serializer[Any]):
    kind = serializers.CharField()
    title = serializers.CharField()
    group = serializers.CharField()
    icon = serializers.CharField(help_text="Name of a Tabler icon.")
    summary = serializers.CharField()
    schema = serializers.DictField(child=AnyJson(), help_text="JSON Schema of the settings.")
    ports = PortOut(many=True)
    delivery = serializers.ChoiceField(choices=[each.value for each in Delivery])
    execution = serializers.ChoiceField(choices=[each.value for each in Execution])
    has_input = serializers.BooleanField()
    gives = serializers.ListField(child=serializers.CharField())  # names that expressions inside a container know
    connection_kinds = serializers.ListField(child=serializers.CharField())
    default_limit_s = serializers.FloatField()
    readme = serializers.CharField(help_text="Markdown.")


class StepKindList(serializers.Serializer[Any]):
    items = StepKindOut(many=True)


class DescribedNode(Input):
    kind = serializers.CharField(max_length=64)
    config = serializers.DictField(child=AnyJson(allow_null=True))


class DescribeRequest(Input):
    """One node by `kind` and `config`, or many by `nodes`."""

    kind = serializers.CharField(max_length=64, required=False)
    config = serializers.DictField(child=AnyJson(allow_null=True), required=False)
    nodes = serializers.ListField(child=DescribedNode(), required=False, max_length=MOST_DESCRIBED)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        others: dict[str, Any]
        if "nodes" in attrs:
            others = {name: ["Leave it out beside 'nodes'."] for name in ("kind", "config") if name in attrs}
        else:
            others = {name: ["This field is required."] for name in ("kind", "config") if name not in attrs}
        if others:
            raise serializers.ValidationError(others)
        return attrs


class DescribeAnswer(serializers.Serializer[Any]):
    description = serializers.CharField(allow_blank=True)
    ports = PortOut(many=True)


class DescribeAnswers(serializers.Serializer[Any]):
    """In the order of the nodes that were asked for; null where there is no such kind."""

    items = serializers.ListField(child=DescribeAnswer(allow_null=True))
