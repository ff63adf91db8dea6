"""What can go wrong with people and workspaces."""

from kit.errors import BadInput, Conflict


class EmailTaken(Conflict):
    code = "email_taken"


class SlugTaken(Conflict):
    code = "slug_taken"


class AlreadyMember(Conflict):
    code = "already_member"


class WeakPassword(BadInput):
    code = "weak_password"
