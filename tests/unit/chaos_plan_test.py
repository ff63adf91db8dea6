"""The plan of faults: from the seed alone, every kind in time."""

from hypothesis import given
from hypothesis import strategies as st

from tests.chaos.plan import MANDATORY_UNTIL, ZOMBIE_FROM_S, ZOMBIE_S, Fault, plan_of

SEEDS = st.integers(0, 2**63)
DURATIONS = st.floats(5, 900)


@given(SEEDS, DURATIONS)
def test_a_seed_tells_the_same_plan_each_time(seed: int, duration_s: float) -> None:
    assert plan_of(seed, duration_s=duration_s) == plan_of(seed, duration_s=duration_s)


@given(SEEDS, DURATIONS)
def test_every_kind_has_its_turn_early_enough(seed: int, duration_s: float) -> None:
    plan = plan_of(seed, duration_s=duration_s)
    early = {strike.fault for strike in plan if strike.at_s <= duration_s * MANDATORY_UNTIL + 0.01}
    assert early == set(Fault)
    assert [strike.at_s for strike in plan] == sorted(strike.at_s for strike in plan)
    assert plan[-1].at_s <= duration_s


@given(SEEDS, st.floats(ZOMBIE_FROM_S, 900))
def test_a_long_job_has_a_zombie(seed: int, duration_s: float) -> None:
    plan = plan_of(seed, duration_s=duration_s)
    assert any(strike.fault is Fault.STOP_WORKER and strike.lasts_s == ZOMBIE_S for strike in plan)


def test_different_seeds_tell_different_plans() -> None:
    assert plan_of(1, duration_s=60) != plan_of(2, duration_s=60)
