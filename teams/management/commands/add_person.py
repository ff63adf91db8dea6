"""manage.py add_person ana@example.com --workspace acme --role editor: an account and a membership, where missing.

Sign-up is closed, so this is how whoever runs a Pawl lets people in. A new account's password is printed once.
"""

import secrets
from argparse import ArgumentParser
from typing import Any

from django.core.management import BaseCommand, CommandError
from django.db import transaction

from kit.errors import AppError
from teams.access import SYSTEM, person, role_of
from teams.models import Role, User, Workspace
from teams.services import add_member, create_user, create_workspace


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("email")
        parser.add_argument("--name", default="", help="how others see them")
        parser.add_argument("--workspace", required=True, help="its address: the word after /w/")
        parser.add_argument("--role", choices=[role.value for role in Role], default=Role.EDITOR.value)
        parser.add_argument("--new-workspace", metavar="NAME", help="make the workspace, owned by this person")

    def handle(self, *, email: str, name: str, workspace: str, role: str, **options: Any) -> None:
        try:
            with transaction.atomic():
                user = self._user(email, name)
                self._seat(user, workspace, role=Role(role), new_name=options["new_workspace"])
        except AppError as error:
            raise CommandError(error.message) from error

    def _user(self, email: str, name: str) -> User:
        found = User.objects.filter(email=email.strip().lower()).first()
        if found is not None:
            return found
        password = secrets.token_urlsafe(12)
        user = create_user(actor=SYSTEM, email=email, name=name, password=password)
        self.stdout.write(f"Made the account {user.email} with the password {password}")
        return user

    def _seat(self, user: User, slug: str, *, role: Role, new_name: str | None) -> None:
        if new_name:
            create_workspace(actor=SYSTEM, name=new_name, slug=slug, owner=user)
            self.stdout.write(f"Made the workspace {new_name}, owned by {user.email}")
            return
        space = Workspace.objects.filter(slug=slug).first()
        if space is None:
            raise CommandError(f"There is no workspace '{slug}'. Make it with --new-workspace NAME.")
        if role_of(person(user), space) is not None:
            self.stdout.write(f"{user.email} is a member of {space} already")
            return
        add_member(actor=SYSTEM, workspace=space, user=user, role=role)
        self.stdout.write(f"{user.email} is {role.value} of {space}")
