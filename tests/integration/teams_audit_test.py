import pytest
from django.db import IntegrityError, connection, transaction

from teams import audit
from teams.access import SYSTEM, person
from teams.models import AuditRecord
from tests.people import cast

pytestmark = pytest.mark.django_db


def test_an_act_is_recorded_with_who_what_and_where() -> None:
    people = cast()
    actor = person(people.stranger)
    audit.record(actor, "workspace.look", target=people.other, workspace=people.other, data={"at": 1})

    found = AuditRecord.objects.get(action="workspace.look")
    assert (found.actor_kind, found.actor_id, found.actor_name) == ("user", people.stranger.id, "Olga")
    assert (found.workspace_id, found.target_kind, found.target_id) == (
        people.other.id,
        "workspace",
        str(people.other.id),
    )
    assert found.data == {"at": 1}


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE teams_auditrecord SET actor_name = 'nobody'",
        "DELETE FROM teams_auditrecord",
        "TRUNCATE teams_auditrecord",
    ],
)
def test_the_database_refuses_to_change_the_trail(statement: str) -> None:
    people = cast()
    audit.record(SYSTEM, "workspace.look", target=people.acme)
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL pawl.maintenance = 'off'")
        with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
            cursor.execute(statement)
    assert AuditRecord.objects.filter(action="workspace.look", actor_name="system").exists()


def test_retention_may_remove_rows_and_still_not_change_them() -> None:
    audit.record(SYSTEM, "workspace.look", target=cast().acme)
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL pawl.maintenance = 'delete'")
        with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
            cursor.execute("UPDATE teams_auditrecord SET actor_name = 'nobody'")
        cursor.execute("DELETE FROM teams_auditrecord")
    assert not AuditRecord.objects.exists()
