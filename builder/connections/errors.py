"""What can go wrong with connections. No message ever holds a value of one."""

from kit.errors import BadInput, Conflict, NotFound, Unavailable


class ConnectionNotFound(NotFound):
    code = "connection_not_found"


class ConnectionNameTaken(Conflict):
    code = "connection_name_taken"


class ConnectionInUse(Conflict):
    code = "connection_in_use"


class BadConnection(BadInput):
    code = "bad_connection"


class ConnectionUnreadable(Unavailable):
    code = "connection_unreadable"
