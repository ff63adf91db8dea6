"""What strikes when: thrown with the seed alone, so that a seed tells the same plan on every machine. Pure."""

from dataclasses import dataclass, replace
from enum import StrEnum
from math import floor
from random import Random

FIRST_AT_S = 2.0  # workers have steps by then
MANDATORY_UNTIL = 0.8  # of the duration: by then each kind has been planned once
PAUSE_S = (0.8, 3.2)  # between strikes that come on top
ZOMBIE_S = 15.0  # beyond 12 s of silence a worker that exists is taken for dead, and comes back as a zombie
ZOMBIE_FROM_S = 45.0  # of duration: in a shorter job it would be half of it


class Fault(StrEnum):
    KILL_BODY = "kill_body"
    KILL_WORKER = "kill_worker"
    KILL_MACHINE = "kill_machine"  # a master with all below it, as by a power cut
    KILL_SWEEPER = "kill_sweeper"
    KILL_WEB = "kill_web"
    STOP_WORKER = "stop_worker"  # SIGSTOP, and SIGCONT later
    STOP_SWEEPER = "stop_sweeper"
    FLUSHALL = "flushall"
    REDIS_OFF = "redis_off"
    TERMINATE_BACKENDS = "terminate_backends"
    POSTGRES_RESTART = "postgres_restart"
    DUPLICATE_WAKEUPS = "duplicate_wakeups"
    FORGED_WAKEUPS = "forged_wakeups"


# How often each kind comes on top of its one planned time; what stops everybody comes seldom, or nothing would run.
WEIGHTS = {
    Fault.KILL_BODY: 6, Fault.KILL_WORKER: 4, Fault.KILL_MACHINE: 1, Fault.KILL_SWEEPER: 2, Fault.KILL_WEB: 1,
    Fault.STOP_WORKER: 2, Fault.STOP_SWEEPER: 1, Fault.FLUSHALL: 3, Fault.REDIS_OFF: 1, Fault.TERMINATE_BACKENDS: 3,
    Fault.POSTGRES_RESTART: 1, Fault.DUPLICATE_WAKEUPS: 2, Fault.FORGED_WAKEUPS: 2,
}  # fmt: skip
# How long what is frozen or away stays so.
LASTS_S = {
    Fault.STOP_WORKER: (1.0, 4.0, ZOMBIE_S), Fault.STOP_SWEEPER: (1.0, 6.0), Fault.REDIS_OFF: (1.0, 3.0),
    Fault.POSTGRES_RESTART: (0.0, 1.0, 2.0),
}  # fmt: skip


@dataclass(frozen=True)
class Strike:
    at_s: float  # after the beginning
    fault: Fault
    lasts_s: float = 0.0
    pick: int = 0  # which of the possible targets, modulo their number

    def __str__(self) -> str:
        lasts = f" for {self.lasts_s:g} s" if self.lasts_s else ""
        return f"{self.at_s:6.1f} s  {self.fault}{lasts}"


def plan_of(seed: int, *, duration_s: float) -> list[Strike]:
    """Every kind once, in an order that is drawn, and more of them in between; in the order of time."""
    dice = Random(seed)
    kinds = list(Fault)
    dice.shuffle(kinds)
    until_s = max(duration_s * MANDATORY_UNTIL, FIRST_AT_S)
    gap_s = (until_s - FIRST_AT_S) / len(kinds)
    strikes = [_strike(dice, kind, FIRST_AT_S + gap_s * (place + dice.random())) for place, kind in enumerate(kinds)]
    if duration_s >= ZOMBIE_FROM_S:
        strikes = [replace(each, lasts_s=ZOMBIE_S) if each.fault is Fault.STOP_WORKER else each for each in strikes]
    at_s = FIRST_AT_S + dice.uniform(*PAUSE_S)
    while at_s < duration_s:
        [kind] = dice.choices(list(WEIGHTS), weights=list(WEIGHTS.values()))
        strikes.append(_strike(dice, kind, at_s))
        at_s += dice.uniform(*PAUSE_S)
    return sorted(strikes, key=lambda strike: strike.at_s)


def _strike(dice: Random, fault: Fault, at_s: float) -> Strike:
    return Strike(floor(at_s * 100) / 100, fault, dice.choice(LASTS_S.get(fault, (0.0,))), dice.randrange(1_000))
