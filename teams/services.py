"""What people and workspaces go through. Each function: permission, act, audit, in one transaction."""

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import transaction

from kit.errors import Forbidden
from teams import audit
from teams.access import Actor, Permission, person, require, require_system, role_of
from teams.errors import AlreadyMember, EmailTaken, SlugTaken, WeakPassword
from teams.models import Membership, Role, User, Workspace


@transaction.atomic
def create_user(*, actor: Actor, email: str, name: str, password: str) -> User:
    """A person who can sign in. Only the system may: sign-up is closed. Raises EmailTaken, WeakPassword."""
    require_system(actor)
    address = email.strip().lower()
    if User.objects.filter(email=address).exists():
        raise EmailTaken(f"{address} belongs to a user already.", field="email")
    try:
        validate_password(password, User(email=address, name=name))
    except ValidationError as error:
        raise WeakPassword(" ".join(error.messages), field="password") from error
    user = User.objects.create_user(address, password, name=name)
    audit.record(actor, "user.create", target=user, data={"email": address})
    return user


@transaction.atomic
def create_workspace(*, actor: Actor, name: str, slug: str, owner: User) -> Workspace:
    """A workspace with its first owner. Only the system may, for now."""
    require_system(actor)
    if Workspace.objects.filter(slug=slug).exists():
        raise SlugTaken(f"The address '{slug}' is taken by another workspace.", field="slug")
    workspace = Workspace.objects.create(name=name, slug=slug)
    audit.record(actor, "workspace.create", target=workspace, workspace=workspace, data={"name": name, "slug": slug})
    _join(actor, workspace, owner, role=Role.OWNER)
    return workspace


@transaction.atomic
def add_member(*, actor: Actor, workspace: Workspace, user: User, role: Role) -> Membership:
    """Makes a user a member. Only an owner may make another owner. Raises AlreadyMember."""
    require(actor, Permission.MANAGE_MEMBERS, workspace)
    if role is Role.OWNER and actor.kind != "system" and role_of(actor, workspace) is not Role.OWNER:
        raise Forbidden("Only an owner can make somebody an owner.", role=role.value)
    if role_of(person(user), workspace) is not None:
        raise AlreadyMember(f"{user.email} is a member of this workspace already.", email=user.email)
    return _join(actor, workspace, user, role=role)


def _join(actor: Actor, workspace: Workspace, user: User, *, role: Role) -> Membership:
    membership = Membership.objects.create(workspace=workspace, user=user, role=role)
    audit.record(
        actor, "member.add", target=membership, workspace=workspace, data={"email": user.email, "role": role.value}
    )
    return membership
