"""What a step asks of people and of the outside, and when their answers decide it."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Decision = Literal["approved", "rejected"]

FOR_PEOPLE = frozenset({"approval", "form"})
ASKED = FOR_PEOPLE | {"callback"}  # kinds of wait that have a row, and take one answer


@dataclass(frozen=True)
class Rules:
    """Of an approval: how many different people decide it, and what its deadline does."""

    approvals_needed: int = 1
    rejections_needed: int = 1  # the first side that reaches its number decides
    on_expire: Literal["fail", "reject"] = "fail"
    no_self_approval: bool = False
    roles: frozenset[str] = field(default_factory=frozenset)  # empty: whoever may approve


def rules_of(data: Mapping[str, Any]) -> Rules:
    """From what the wait was opened with. A kind that says nothing of them asks one person."""
    return Rules(
        approvals_needed=data.get("approvals_needed") or 1,
        rejections_needed=data.get("rejections_needed") or 1,
        on_expire=data.get("on_expire") or "fail",
        no_self_approval=bool(data.get("no_self_approval")),
        roles=frozenset(data.get("roles") or ()),
    )


def decided(rules: Rules, votes: Iterable[str]) -> Decision | None:
    """What the votes so far decide; None while more are needed."""
    cast = list(votes)
    if cast.count("rejected") >= rules.rejections_needed:
        return "rejected"
    return "approved" if cast.count("approved") >= rules.approvals_needed else None


def shown_hash(data: str) -> str:
    """Of what a wait was opened with, as it is kept: 64 hex digits. An answer is bound to it."""
    return hashlib.sha256(data.encode()).hexdigest()
