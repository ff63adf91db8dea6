"""The cast of the tests: one person for each role in Acme, Olga who owns another workspace, and nobody at all."""

from dataclasses import dataclass
from uuid import uuid4

from django.test import Client

from teams.access import SYSTEM, Actor, person
from teams.models import Membership, Role, User, Workspace
from teams.services import create_workspace

PASSWORD = "correct-horse-battery-staple"


@dataclass(frozen=True)
class Cast:
    acme: Workspace
    other: Workspace
    members: dict[Role, User]
    stranger: User

    def actor(self, role: Role) -> Actor:
        return person(self.members[role])

    def client(self, role: Role | None) -> Client:
        """Signed in as that member of Acme; None is the stranger."""
        client = Client()
        client.force_login(self.members[role] if role else self.stranger)
        return client


def superuser() -> Client:
    """Signed in as whoever runs this Pawl, a member of no workspace."""
    client = Client()
    made = user("root")
    made.is_superuser = True
    made.save(update_fields=["is_superuser"])
    client.force_login(made)
    return client


def user(name: str) -> User:
    """With an unusable password: hashing one takes longer than most tests."""
    return User.objects.create_user(f"{name}-{uuid4().hex[:6]}@example.com", name=name.title())


def cast() -> Cast:
    members = {role: user(role.value) for role in Role}
    stranger = user("olga")
    acme = create_workspace(actor=SYSTEM, name="Acme", slug=f"acme-{uuid4().hex[:6]}", owner=members[Role.OWNER])
    other = create_workspace(actor=SYSTEM, name="Other", slug=f"other-{uuid4().hex[:6]}", owner=stranger)
    for role, member in members.items():
        if role is not Role.OWNER:
            Membership.objects.create(workspace=acme, user=member, role=role)
    return Cast(acme, other, members, stranger)
