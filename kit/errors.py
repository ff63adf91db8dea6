"""The root of all of Pawl's own errors.

AppError
├── BadInput        400  the request cannot be read, or a field of it is wrong
├── Forbidden       403  the actor's role does not allow it
├── NotFound        404  it does not exist, or not for this actor
├── Conflict        409  something changed meanwhile
├── Gone            410  it existed and is used up
├── Unprocessable   422  it can be read, and breaks a rule (a draft with problems)
└── Unavailable     503  a service that Pawl stands on does not answer

Each module subclasses these with a `code` of its own; config.errors turns them into one RFC 9457 body.
"""

from typing import Any, ClassVar


class AppError(Exception):
    """Something that a caller can understand and act on.

    `code` is stable and documented, `message` says what is wrong and what to do, `data` holds the details
    (JSON values only: field, node, limits, ...).
    """

    code: ClassVar[str] = "error"
    status: ClassVar[int] = 500

    def __init__(self, message: str, **data: Any) -> None:
        super().__init__(message)
        self.message = message
        self.data = data


class BadInput(AppError):
    code = "bad_input"
    status = 400


class Forbidden(AppError):
    code = "forbidden"
    status = 403


class NotFound(AppError):
    code = "not_found"
    status = 404


class Conflict(AppError):
    code = "conflict"
    status = 409


class Gone(AppError):
    code = "gone"
    status = 410


class Unprocessable(AppError):
    code = "unprocessable"
    status = 422


class Unavailable(AppError):
    code = "unavailable"
    status = 503
