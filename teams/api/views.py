"""Doors: who am I, and who else is here."""

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from teams.access import Permission
from teams.api.doors import Door
from teams.models import Role
from teams.selectors import members_of, seats_of


class SessionUser(serializers.Serializer[object]):
    id = serializers.UUIDField()
    email = serializers.EmailField()
    name = serializers.CharField()


class SessionWorkspace(serializers.Serializer[object]):
    slug = serializers.SlugField(source="workspace.slug")
    name = serializers.CharField(source="workspace.name")
    role = serializers.ChoiceField(choices=Role.choices)
    permissions = serializers.ListField(child=serializers.ChoiceField(choices=[each.value for each in Permission]))


class Session(serializers.Serializer[object]):
    user = SessionUser()
    workspaces = SessionWorkspace(many=True)


class Member(serializers.Serializer[object]):
    email = serializers.EmailField(source="user.email")
    name = serializers.CharField(source="user.name")
    role = serializers.ChoiceField(choices=Role.choices)


class MemberList(serializers.Serializer[object]):
    items = Member(many=True)
    next = serializers.CharField(allow_null=True)


class SessionView(Door):
    @extend_schema(operation_id="getSession", responses=Session)
    def get(self, request: Request) -> Response:
        """Who is signed in, and where they may do what."""
        return Response(Session({"user": request.user, "workspaces": seats_of(self.actor)}).data)


class MembersView(Door):
    @extend_schema(operation_id="listMembers", responses=MemberList)
    def get(self, request: Request, workspace: str) -> Response:
        """Who belongs to the workspace, and as what."""
        members = members_of(self.actor, self.workspace(workspace))
        return Response(MemberList({"items": members, "next": None}).data)
