"""How Pawl differs from django-allauth's ways."""

from allauth.account.adapter import DefaultAccountAdapter
from django.http import HttpRequest, HttpResponse

from teams import audit
from teams.access import person
from teams.models import User


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Nobody makes an account alone: `services.create_user` does (invitations come later)."""
        return False

    def post_login(self, request: HttpRequest, user: User, **details: object) -> HttpResponse:
        response: HttpResponse = super().post_login(request, user, **details)
        audit.record(person(user), "user.sign_in", target=user, data={"from": self.get_client_ip(request)})
        return response
