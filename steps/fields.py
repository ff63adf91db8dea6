"""Settings that several kinds have."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator

from steps.base import Field, widget


def _storage_path(path: str) -> str:
    """A path below the workspace's storage, as people write it. That it stays below is checked again at its use."""
    if path.startswith("/") or "\\" in path or "\0" in path or ".." in path.split("/"):
        raise ValueError("a path in the storage has no leading '/', no '..', no backslash")
    return path


StoragePath = Annotated[str, AfterValidator(_storage_path), Field(min_length=1, max_length=1024)]
# Of the workspace's members; teams.models.Role has the same, and a viewer answers nothing.
RoleName = Literal["owner", "admin", "editor", "operator"]


def connection_field(**extra: Any) -> Any:
    """The field `connection`: a name of a connection, chosen from those of the spec's `connection_kinds`."""
    return Field(
        title="Connection",
        description="Credentials that the workspace keeps. They never enter the workflow.",
        json_schema_extra=widget("connection"),
        **extra,
    )
