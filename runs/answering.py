"""Whether an answer fits its question, and whether this person may give it. A question's row never changes, so this is
looked at before the transaction: a schema may take seconds.
"""

from typing import Any
from uuid import UUID

from kit.errors import BadInput, Forbidden
from kit.fields import below
from runs.core.questions import rules_of
from runs.models import Command, Run, Wait
from runs.selectors.values import decoded
from steps.base import StepFailure
from steps.schema_bounded import check_bounded
from teams.access import Actor, role_of

DECISIONS = {"approval": ("approved", "rejected"), "form": ("submitted",)}
# Acts on a run that leave what is to be approved as it was. An answer counts where it gave a value (`_gave_data`). A
# retry that is only made earlier is made anyway, on the same input; a fork changes the new run, which is its maker's.
HARMLESS = ("answer", "cancel", "pause", "unpause", "breakpoints", "retry_now", "fork")
# Indexes: primary key, run_children.
FAMILY = """WITH RECURSIVE family(id) AS (
    SELECT %s::uuid UNION SELECT other.id FROM family JOIN runs_run r ON r.id = family.id
        JOIN runs_run other ON other.id = r.forked_from_id OR other.id = r.parent_run_id OR other.parent_run_id = r.id
) SELECT id FROM family"""


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
        raise NotYoursToAnswer(
            "You started or resumed this run, or changed what it works on: somebody else has to answer."
        )


def has_made(actor: Actor, run: Run) -> bool:
    """Whether the person started the run or one that it came from, set it going again, or changed what it works on."""
    if actor.id is None:
        return False
    family = _family(run)
    if Run.objects.filter(id__in=family, started_by_id=actor.id).exists():
        return True
    if Command.objects.filter(run_id__in=family, user_id=actor.id).exclude(operation__in=HARMLESS).exists():
        return True
    answered = Wait.objects.filter(run_id__in=family, answered_by_id=actor.id)
    return any(_gave_data(wait) for wait in answered.only("kind", "data", "answer"))


def _family(run: Run) -> list[UUID]:
    """The run, what it was forked from, and the runs that these lie inside or started as steps: values of each may have
    come into it.
    """
    return [found.id for found in Run.objects.raw(FAMILY, [run.id])]


def _gave_data(wait: Wait) -> bool:
    """Whether the answer was more than yes or no: a form's fields, a corrected value."""
    if wait.kind == "form" or wait.answer is None:
        return True
    return bool(decoded(wait.answer).get("data") != decoded(wait.data).get("data"))


def _check_form(schema: dict[str, Any], data: Any) -> None:
    try:
        problems = check_bounded(data, schema)
    except StepFailure as failure:
        raise AnswerRefused(f"The form's schema cannot be used: {failure.message}") from failure
    if problems:
        fields = [{"field": below("data", each["path"]), "message": each["message"]} for each in problems]
        raise AnswerRefused(f"{len(fields)} of the form's fields are not as they must be.", fields=fields)
