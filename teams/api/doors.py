"""What every door of the API has in common: who knocks, how input is read."""

from collections.abc import Mapping
from typing import Any, Literal, cast

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.views import APIView

from teams.access import Actor, Permission, person, require, require_installation, workspace_for
from teams.models import User, Workspace

PAGE_LIMIT = 200


class Door(APIView):
    """A view of the API. Subclasses parse with `read` or `query`, call one use case or selector, and answer."""

    # First what the address names is found (404 where the actor may not see it), then the permission is asked, then
    # what was sent is looked at.
    _space: Workspace | None = None

    @property
    def actor(self) -> Actor:
        return person(cast(User, self.request.user))

    def workspace(self, slug: str) -> Workspace:
        """Raises NotFound for whoever does not belong to it."""
        self._space = workspace_for(self.actor, slug)
        return self._space

    def read(self, shape: "type[Input]", *, needs: Permission | Literal["installation"]) -> dict[str, Any]:
        """The body. Whether the actor may act is decided before anybody looks at it: what is wrong with a request is
        no business of those who may not make it. Raises Forbidden.
        """
        if needs == "installation":
            require_installation(self.actor)
        else:
            require(self.actor, needs, self._found_space())
        return _checked(shape(data=self.request.data))

    def _found_space(self) -> Workspace:
        assert self._space is not None, "find what the address names, then read what was sent"
        return self._space

    def query(self, shape: "type[Input]") -> dict[str, Any]:
        self._found_space()
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
