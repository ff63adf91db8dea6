import pytest

from kit.errors import Forbidden, NotFound
from teams.access import PERMISSIONS_OF, SYSTEM, Permission, person, require, visible_to, workspace_for
from teams.errors import AlreadyMember, EmailTaken, SlugTaken, WeakPassword
from teams.models import AuditRecord, Membership, Role, User, Workspace
from teams.services import add_member, create_user, create_workspace
from tests.people import PASSWORD, cast, user

pytestmark = pytest.mark.django_db


def test_nobody_but_the_system_makes_users_or_workspaces() -> None:
    people = cast()
    owner = people.actor(Role.OWNER)
    with pytest.raises(Forbidden):
        create_user(actor=owner, email="new@example.com", name="", password=PASSWORD)
    with pytest.raises(Forbidden):
        create_workspace(actor=owner, name="Mine", slug="mine", owner=people.members[Role.OWNER])
    assert not User.objects.filter(email="new@example.com").exists()
    assert not Workspace.objects.filter(slug="mine").exists()


def test_a_user_is_known_by_e_mail_whatever_its_capitals() -> None:
    made = create_user(actor=SYSTEM, email=" Ana@Example.COM ", name="Ana", password=PASSWORD)
    assert made.email == "ana@example.com"
    assert made.check_password(PASSWORD)
    with pytest.raises(EmailTaken):
        create_user(actor=SYSTEM, email="ANA@example.com", name="", password=PASSWORD)
    record = AuditRecord.objects.get(action="user.create", target_id=str(made.id))
    assert PASSWORD not in str(record.data)


def test_a_weak_password_is_refused_and_makes_no_user() -> None:
    with pytest.raises(WeakPassword):
        create_user(actor=SYSTEM, email="ana@example.com", name="", password="password")
    assert not User.objects.filter(email="ana@example.com").exists()


def test_a_workspace_has_its_owner_from_the_start_and_an_address_of_its_own() -> None:
    owner = user("ana")
    made = create_workspace(actor=SYSTEM, name="Acme", slug="acme-x", owner=owner)
    assert Membership.objects.get(workspace=made).role == Role.OWNER
    with pytest.raises(SlugTaken):
        create_workspace(actor=SYSTEM, name="Acme 2", slug="acme-x", owner=owner)


def test_the_stranger_sees_no_workspace_and_adds_nobody_to_it() -> None:
    people = cast()
    stranger = person(people.stranger)
    with pytest.raises(NotFound):
        workspace_for(stranger, people.acme.slug)
    with pytest.raises(NotFound):
        workspace_for(people.actor(Role.OWNER), f"{people.acme.slug}\0")
    with pytest.raises(NotFound):
        add_member(actor=stranger, workspace=people.acme, user=people.stranger, role=Role.VIEWER)
    assert not visible_to(stranger, Membership.objects.all(), people.acme).exists()


@pytest.mark.parametrize("role", [Role.EDITOR, Role.OPERATOR, Role.VIEWER])
def test_members_below_admin_add_nobody(role: Role) -> None:
    people = cast()
    with pytest.raises(Forbidden):
        add_member(actor=people.actor(role), workspace=people.acme, user=people.stranger, role=Role.VIEWER)
    assert not Membership.objects.filter(workspace=people.acme, user=people.stranger).exists()


def test_an_admin_adds_an_editor_but_no_owner() -> None:
    people = cast()
    admin = people.actor(Role.ADMIN)
    with pytest.raises(Forbidden):
        add_member(actor=admin, workspace=people.acme, user=people.stranger, role=Role.OWNER)
    add_member(actor=admin, workspace=people.acme, user=people.stranger, role=Role.EDITOR)
    with pytest.raises(AlreadyMember):
        add_member(actor=admin, workspace=people.acme, user=people.stranger, role=Role.VIEWER)
    record = AuditRecord.objects.filter(action="member.add", workspace_id=people.acme.id).latest("id")
    assert record.data == {"email": people.stranger.email, "role": "editor"}


@pytest.mark.parametrize("role", list(Role))
@pytest.mark.parametrize("permission", list(Permission))
def test_each_role_may_exactly_what_the_table_says(role: Role, permission: Permission) -> None:
    people = cast()
    if permission in PERMISSIONS_OF[role]:
        require(people.actor(role), permission, people.acme)
    else:
        with pytest.raises(Forbidden) as refusal:
            require(people.actor(role), permission, people.acme)
        assert refusal.value.data == {"permission": permission.value, "role": role.value}
