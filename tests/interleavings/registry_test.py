"""Every use case of the engine has an act: what is new must be interrupted and interleaved like everything else."""

import inspect
import pkgutil
from collections.abc import Iterator
from importlib import import_module

import runs.engine
from runs.store.read import Connection
from tests.interleavings.acts import ACTS

# Functions of the engine that take a connection and are no act of their own, each with the reason.
NO_ACT = {
    "checkpoint.checkpoints_of": "reads",
    "checkpoint.previous_of": "reads",
    "callback.workspace_of": "reads",
    "calling.call_of": "reads",
    "calling.is_slow": "reads",
    "calling.look_at": "reads",
    "calling.version_of": "reads",
    "check_input.check_input": "reads",
    "check_input.refusal_of": "reads",
    "check_input.takes_long": "reads",
    "commands.keep_person": "a part of every command's own transaction",
    "control.goes_on": "a part of unpausing, and of delivering",
    "control.preview_control": "reads: its transition is thrown away",
    "decide.deciding": "makes an operation, and does nothing",
    "definitions.definition_of": "reads what never changes",
    "fork.check_fork": "reads",
    "fork.preview_fork": "reads: its transition is thrown away",
    "inside.acted_inside": "reads",
    "inside.unknown_inside": "reads",
    "limits.after_run": "lets go as `let_all_go` does, of one name",
    "limits.after_step": "lets go as `let_all_go` does, of one name",
    "operations.peek": "reads",
    "operations.preview": "reads: its transition is thrown away",
    "operations.step_at": "reads",
    "repair.check_input": "reads",
    "repair.editing": "makes an operation, and does nothing",
    "repair.override_of": "reads",
    "repair.retrying": "makes an operation, and does nothing",
    "repair.skipping": "makes an operation, and does nothing",
    "repair.supplying": "makes an operation, and does nothing",
    "resume.preview_resume": "reads: its transition is thrown away",
    "scope.beginning_of": "reads",
    "reuse.find_result": "reads; it touches a value, so that the value stays",
    "scope.output_of": "reads",
    "scope.rounds_of": "reads",
    "scope.scope_of": "reads",
    "start.same_request": "reads",
    "stuck.stuck_runs": "reads; whoever acts looks again under the lock",
    "transact.begin": "the beginning of the acts, which commit",
    "wait.unanswered": "a part of expiring",
    "wait.votes_on": "reads",
}


def use_cases() -> Iterator[str]:
    """`module.function` or `module.Class.method` of what the engine offers: public, and it takes a connection."""
    for found in pkgutil.iter_modules(runs.engine.__path__):
        module = import_module(f"runs.engine.{found.name}")
        for name, member in inspect.getmembers(module, lambda each: inspect.isfunction(each) or inspect.isclass(each)):
            if member.__module__ != module.__name__ or name.startswith("_"):
                continue
            own = vars(member).items() if inspect.isclass(member) else ()
            inner = {f"{name}.{each}": method for each, method in own if not each.startswith("_")}
            functions = {name: member} if inspect.isfunction(member) else inner
            yield from (f"{found.name}.{each}" for each, function in functions.items() if takes_connection(function))


def takes_connection(function: object) -> bool:
    if not inspect.isfunction(function):
        return False
    first = [parameter for parameter in inspect.signature(function).parameters.values() if parameter.name != "self"][:1]
    return bool(first) and first[0].annotation in (Connection, "Connection")


def test_every_use_case_of_the_engine_is_interrupted_and_interleaved() -> None:
    covered = {name for act in ACTS.values() for name in act.covers}
    missing = set(use_cases()) - covered - set(NO_ACT)
    assert not missing, (
        f"{sorted(missing)}: give each an act in tests/interleavings/acts.py (a function of scene and connection that "
        "asks for the same thing each time), or, if it only reads, a line in NO_ACT with the reason."
    )


def test_the_registry_names_nothing_that_is_gone() -> None:
    known = set(use_cases())
    assert {name for act in ACTS.values() for name in act.covers} | set(NO_ACT) <= known
