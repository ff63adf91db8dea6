"""How Pawl differs from django-allauth's ways."""

from allauth.account.adapter import DefaultAccountAdapter
from django.http import HttpRequest


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Nobody makes an account alone: `services.create_user` does (invitations come later)."""
        return False
