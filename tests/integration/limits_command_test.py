"""manage.py set_limit."""

import pytest
from django.core.management import CommandError, call_command

from builder.workflows.models import Workflow
from runs.models import Limit
from teams.models import AuditRecord, Workspace

pytestmark = pytest.mark.django_db(transaction=True)


def test_limits_are_set_changed_listed_and_taken_away(capsys: pytest.CaptureFixture[str]) -> None:
    workspace = Workspace.objects.create(slug="acme", name="Acme")
    workflow = Workflow.objects.create(workspace=workspace, name="w")
    for what, which in [("queue", "browser"), ("workspace", "acme"), ("workflow", str(workflow.id))]:
        call_command("set_limit", what, which, "2")
    call_command("set_limit", "queue", "browser", "5")
    call_command("set_limit", "workspace", "acme", "none")
    assert dict(Limit.objects.values_list("name", "at_most")) == {"queue:browser": 5, f"workflow:{workflow.id}": 2}
    capsys.readouterr()
    call_command("set_limit", "queue", "browser", "5")
    assert capsys.readouterr().out == "queue browser: at most 5, before: at most 5\n"
    call_command("set_limit")
    assert "queue:browser: at most 5, set by manage.py set_limit at " in capsys.readouterr().out
    told = [
        (row.action, row.actor_name, row.data["from"], row.data["to"]) for row in AuditRecord.objects.order_by("id")
    ]
    assert told[-3:] == [
        ("limit.set", "manage.py set_limit", None, 2),
        ("limit.set", "manage.py set_limit", 2, 5),
        ("limit.remove", "manage.py set_limit", 2, None),
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["queue", "Browser", "2"], "must be a queue's name"),
        (["queue", "browser", "0"], "should be a number from 1"),
        (["queue", "browser"], "Say which one"),
        (["queue"], "Say which one"),
        (["workspace", "nowhere", "2"], "There is no workspace 'nowhere'"),
        (["workflow", "7", "2"], "is no workflow's id"),
        (["workflow", "01a22d49-5aff-7432-b672-6968f56da500", "2"], "There is no workflow"),
        (["weather", "x", "2"], "invalid choice"),
    ],
)
def test_what_cannot_be_a_limit_changes_nothing(arguments: list[str], message: str) -> None:
    with pytest.raises(CommandError, match=message):
        call_command("set_limit", *arguments)
    assert not Limit.objects.exists()
