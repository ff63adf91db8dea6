"""What every door of the API has in common: who knocks, how input is read."""

from collections.abc import Mapping
from typing import Any, cast

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.views import APIView

from teams.access import Actor, person, workspace_for
from teams.models import User, Workspace

PAGE_LIMIT = 200


class Door(APIView):
    """A view of the API. Subclasses parse with `read` or `query`, call one use case or selector, and answer."""

    @property
    def actor(self) -> Actor:
        return person(cast(User, self.request.user))

    def workspace(self, slug: str) -> Workspace:
        """Raises NotFound for whoever does not belong to it."""
        return workspace_for(self.actor, slug)

    def read(self, shape: "type[Input]") -> dict[str, Any]:
        return _checked(shape(data=self.request.data))

    def query(self, shape: "type[Input]") -> dict[str, Any]:
        return _checked(shape(data=self.request.query_params.dict()))


def _checked(shape: "Input") -> dict[str, Any]:
    shape.is_valid(raise_exception=True)
    return cast(dict[str, Any], shape.validated_data)


class Input(serializers.Serializer[Any]):
    """The shape of a request. Unknown fields are refused: they are typing mistakes."""

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, Mapping):
            unknown = {name: ["There is no such field."] for name in data if name not in self.fields}
            if unknown:
                raise serializers.ValidationError(unknown)
        return super().to_internal_value(data)


class PageInput(Input):
    cursor = serializers.CharField(required=False, help_text="The `next` of the page before.")
    limit = serializers.IntegerField(required=False, default=50, min_value=1, max_value=PAGE_LIMIT)


@extend_schema_field({"description": "Any JSON value"})
class AnyJson(serializers.JSONField):
    """A JSON value, as it is."""
