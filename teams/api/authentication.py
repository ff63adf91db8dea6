"""Signing in to the API: the session cookie of the pages, and the CSRF token for whatever changes something."""

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework import authentication
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request

from teams.api.errors import CsrfFailed


class SessionAuthentication(authentication.SessionAuthentication):
    def authenticate_header(self, request: Request) -> str:
        """Makes the framework answer 401, not 403, to a request without a session."""
        return 'Session realm="Pawl"'

    def enforce_csrf(self, request: Request) -> None:
        try:
            super().enforce_csrf(request)
        except PermissionDenied as error:
            raise CsrfFailed(
                "The CSRF token is missing or not this session's. Send the cookie `csrftoken` as header X-CSRFToken."
            ) from error


class SessionScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """How the OpenAPI file names it. The cookie's real name has an ending of the installation's own."""

    target_class = SessionAuthentication
    name = "session"

    def get_security_definition(self, auto_schema: object) -> dict[str, str]:
        return {"type": "apiKey", "in": "cookie", "name": "pawl_session"}
