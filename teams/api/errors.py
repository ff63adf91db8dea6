"""What can be wrong with a request before any use case sees it."""

from kit.errors import AppError, BadInput, Forbidden


class NotSignedIn(AppError):
    code = "not_signed_in"
    status = 401


class CsrfFailed(Forbidden):
    code = "csrf_failed"


class MalformedJson(BadInput):
    code = "malformed_json"


class BodyTooLarge(AppError):
    code = "body_too_large"
    status = 413
