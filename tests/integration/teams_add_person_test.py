import re

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from teams.models import AuditRecord, Membership, User


@pytest.mark.django_db
def test_a_person_is_let_in_with_an_account_and_a_role(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("add_person", "ana@example.com", "--workspace", "acme", "--new-workspace", "Acme")
    call_command("add_person", "bob@example.com", "--name", "Bob", "--workspace", "acme", "--role", "operator")
    call_command("add_person", "BOB@example.com", "--workspace", "acme")

    told = capsys.readouterr().out
    passwords = re.findall(r"with the password (\S+)", told)
    assert len(passwords) == 2, "an account is made once"
    assert "bob@example.com is a member of Acme already" in told
    roles = Membership.objects.values_list("user__email", "role").order_by("user__email")
    assert list(roles) == [("ana@example.com", "owner"), ("bob@example.com", "operator")]
    signed_in = Client().post("/accounts/login/", {"login": "bob@example.com", "password": passwords[1]})
    assert signed_in.status_code == 302
    assert passwords[1] not in str(list(AuditRecord.objects.values_list("data", flat=True)))


@pytest.mark.django_db
def test_a_missing_workspace_lets_nobody_in() -> None:
    with pytest.raises(CommandError, match="--new-workspace"):
        call_command("add_person", "ana@example.com", "--workspace", "nowhere")
    assert not User.objects.exists()
