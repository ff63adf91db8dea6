"""What can go wrong with alerts."""

from kit.errors import BadInput, Conflict, NotFound


class AlertNotFound(NotFound):
    code = "alert_not_found"


class BadAlert(BadInput):
    """`data.fields` names what is wrong with the rule."""

    code = "bad_alert"


class TooManyAlerts(Conflict):
    """`data.limit` says how many a workspace may have."""

    code = "too_many_alerts"


class NoAlertSecret(Conflict):
    code = "no_alert_secret"


class AlertTestWaits(Conflict):
    code = "alert_test_waits"
