"""Whether an answer fits its question, and whether this person may give it. A question's row never changes, so this is
looked at before the transaction: a schema may take seconds.
"""

from typing import Any

from kit.errors import BadInput, Forbidden
from runs.core.questions import rules_of
from runs.models import Command, Run, Wait
from runs.selectors.values import decoded
from steps.base import StepFailure
from steps.schema_bounded import check_bounded
from teams.access import Actor, role_of

DECISIONS = {"approval": ("approved", "rejected"), "form": ("submitted",)}
# Acts on a run that leave what is to be approved as it was.
HARMLESS = ("answer", "cancel", "pause", "unpause", "breakpoints", "resume", "retry_now")


class AnswerRefused(BadInput):
    code = "answer_refused"


class NotYoursToAnswer(Forbidden):
    code = "not_yours_to_answer"


def check_answer(actor: Actor, wait: Wait, *, decision: str, data: Any) -> None:
    """Raises AnswerRefused, with the fields that are wrong, and NotYoursToAnswer."""
    shown = decoded(wait.data)
    allowed = DECISIONS.get(wait.kind, ())
    if decision not in allowed:
        message = f"A question of kind {wait.kind} is answered by one of: {', '.join(allowed) or 'no person'}."
        raise AnswerRefused(message, fields=[{"field": "decision", "message": message}])
    _check_person(actor, wait, shown)
    if wait.kind == "form":
        _check_form(shown.get("schema") or {}, data)
    elif rules_of(shown).approvals_needed > 1 and data is not None and data != shown.get("data"):
        message = "What several people approve cannot be changed by one of them."
        raise AnswerRefused(message, fields=[{"field": "data", "message": message}])


def _check_person(actor: Actor, wait: Wait, shown: dict[str, Any]) -> None:
    if actor.user is None:
        return
    rules = rules_of(shown)
    role = role_of(actor, wait.run.workspace)
    if rules.roles and role not in rules.roles:
        raise NotYoursToAnswer(f"This question is for: {', '.join(sorted(rules.roles))}.", roles=sorted(rules.roles))
    if rules.no_self_approval and has_made(actor, wait.run):
        raise NotYoursToAnswer("You started this run or changed what it works on: somebody else has to answer.")


def has_made(actor: Actor, run: Run) -> bool:
    """Whether the person started the run, or has changed what it works on since."""
    if actor.id is None:
        return False
    if run.started_by_id == actor.id:
        return True
    changes = Command.objects.filter(run_id=run.id, user_id=actor.id).exclude(operation__in=HARMLESS)
    return changes.exists()


def _check_form(schema: dict[str, Any], data: Any) -> None:
    try:
        problems = check_bounded(data, schema)
    except StepFailure as failure:
        raise AnswerRefused(f"The form's schema cannot be used: {failure.message}") from failure
    if problems:
        fields = [{"field": "data" + _below(each["path"]), "message": each["message"]} for each in problems]
        raise AnswerRefused(f"{len(fields)} of the form's fields are not as they must be.", fields=fields)


def _below(path: str) -> str:
    """`$` -> '', `a.b` -> '.a.b', `[0].c` stays."""
    if path == "$":
        return ""
    return path if path.startswith("[") else f".{path}"
