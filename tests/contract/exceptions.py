"""The one list of exceptions to the house lints. It only shrinks: one that is no longer needed fails the test as well.

rule -> {place: reason}. A new entry wants a reason that a reviewer accepts; 'no time' is none.
"""

_FOREIGN = "a signature that a library dictates"
_FILTER = "a Jinja filter: authors of expressions pass its arguments by position"

EXCEPTIONS: dict[str, dict[str, str]] = {
    "environment": {
        "kit/failpoints.py": "tests arm it in processes that read no settings: the child and its launcher",
        "config/asgi.py": "names the settings module before there are settings, as manage.py does",
        "runs/runner/child.py": "the child has no settings: what it may know comes in its scrubbed environment",
        "runs/runner/spawner.py": "scrubs the environment that the child gets",
        "steps/python/run.py": "runs in the child, which has no settings",
        "steps/registry.py": "asked in the child and its launcher as well, which have no settings",
    },
    "workspace filter": {
        "builder/connections/selectors.py::_rows_of": "the engine asks for a run's own workspace; no person's wish",
    },
    "wall clocks": {
        "runs/artifacts.py::forget_staged": "compares with the time of a file, which is this machine's",
        "runs/live/consumers.py::_is_valid": "a person's session, as Django keeps it: no transition",
    },
    "broker": {
        "runs/broker.py::DoorbellBroker.enqueue": f"{_FOREIGN}; nobody gives it a delay",
    },
    "positional parameters": {
        "builder/expressions/filters.py::group_by": _FILTER,
        "builder/expressions/filters.py::join": _FILTER,
        "builder/expressions/filters.py::replace": _FILTER,
        "builder/expressions/filters.py::total": _FILTER,
        "runs/broker.py::DoorbellConsumer.__init__": _FOREIGN,
        "steps/outbound.py::_Backend.connect_tcp": _FOREIGN,
        "builder/expressions/lookup.py::Missing.__init__": _FOREIGN,
    },
}


def check(rule: str, offenders: dict[str, str]) -> None:
    """`offenders`: place -> what is wrong. Fails for each without an exception, and for each exception without one."""
    allowed = EXCEPTIONS.get(rule, {})
    wrong = [f"{place}: {what}" for place, what in sorted(offenders.items()) if place not in allowed]
    assert not wrong, f"{rule}:\n  " + "\n  ".join(wrong)
    stale = sorted(set(allowed) - set(offenders))
    assert not stale, f"{rule}: these exceptions are no longer needed, delete them: {stale}"
