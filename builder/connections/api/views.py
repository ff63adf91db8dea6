"""Doors: connections. Secrets go in, and never come out."""

from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from builder.connections.models import Connection
from builder.connections.selectors import connection_for, connections_of, shown_settings
from builder.connections.services import create_connection, delete_connection, update_connection
from steps.connections import KINDS, secret_fields
from teams.access import Permission
from teams.api.doors import Door, Input


class ConnectionOut(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    name = serializers.CharField()
    kind = serializers.CharField()
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()
    settings = serializers.DictField(child=serializers.JSONField(), help_text="Without the secret ones.")
    secrets = serializers.ListField(
        child=serializers.CharField(), help_text="Names of the secret settings that are set."
    )


class ConnectionList(serializers.Serializer[Any]):
    items = ConnectionOut(many=True)
    next = serializers.CharField(allow_null=True)


class ConnectionCreate(Input):
    name = serializers.CharField(max_length=100)
    kind = serializers.CharField(max_length=32)
    settings = serializers.DictField(child=serializers.JSONField(allow_null=True))


class ConnectionUpdate(Input):
    name = serializers.CharField(max_length=100, required=False)
    settings = serializers.DictField(
        child=serializers.JSONField(allow_null=True),
        required=False,
        help_text="All settings that are not secret; secret ones that are left out stay as they are.",
    )


class ConnectionKind(serializers.Serializer[Any]):
    kind = serializers.CharField()
    schema = serializers.DictField(child=serializers.JSONField(), help_text="JSON Schema of the settings.")
    secret_fields = serializers.ListField(child=serializers.CharField())


class ConnectionKindList(serializers.Serializer[Any]):
    items = ConnectionKind(many=True)


def as_json(connection: Connection) -> dict[str, Any]:
    seen = shown_settings(connection)
    row = {
        "id": connection.id,
        "name": connection.name,
        "kind": connection.kind,
        "created_at": connection.created_at,
        "updated_at": connection.updated_at,
        "settings": seen.settings,
        "secrets": seen.secrets,
    }
    return dict(ConnectionOut(row).data)


class ConnectionsView(Door):
    @extend_schema(operation_id="listConnections", responses=ConnectionList)
    def get(self, request: Request, workspace: str) -> Response:
        """Connections without their secrets."""
        rows = connections_of(self.actor, self.workspace(workspace))
        return Response({"items": [as_json(row) for row in rows], "next": None})

    @extend_schema(operation_id="createConnection", request=ConnectionCreate, responses={201: ConnectionOut})
    def post(self, request: Request, workspace: str) -> Response:
        """A new connection. Its secrets are sealed, and never shown again."""
        space = self.workspace(workspace)
        made = create_connection(
            actor=self.actor, workspace=space, **self.read(ConnectionCreate, needs=Permission.CONNECT)
        )
        return Response(as_json(made), status=201)


class ConnectionView(Door):
    @extend_schema(operation_id="updateConnection", request=ConnectionUpdate, responses=ConnectionOut)
    def put(self, request: Request, workspace: str, connection_id: UUID) -> Response:
        """Changes a connection. A secret that is left out stays, unless the connection leads elsewhere."""
        connection = connection_for(self.actor, self.workspace(workspace), connection_id)
        changed = update_connection(
            actor=self.actor, connection=connection, **self.read(ConnectionUpdate, needs=Permission.CONNECT)
        )
        return Response(as_json(changed))

    @extend_schema(operation_id="deleteConnection", responses={204: None})
    def delete(self, request: Request, workspace: str, connection_id: UUID) -> Response:
        """Deletes a connection that no published version names."""
        connection = connection_for(self.actor, self.workspace(workspace), connection_id)
        delete_connection(actor=self.actor, connection=connection)
        return Response(status=204)


class ConnectionKindsView(Door):
    @extend_schema(operation_id="listConnectionKinds", responses=ConnectionKindList)
    def get(self, request: Request, workspace: str) -> Response:
        """The kinds of connection there are, with the schema of their settings."""
        self.workspace(workspace)
        items = [
            {"kind": kind, "schema": shape.model_json_schema(), "secret_fields": sorted(secret_fields(kind))}
            for kind, shape in KINDS.items()
        ]
        return Response({"items": items})
