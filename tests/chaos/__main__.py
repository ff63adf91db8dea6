"""python -m tests.chaos --duration 60 --seed 1: real processes under mixed faults, then a verdict (`make chaos`).

Prints the seed first and one JSON object last; what happens in between goes to the standard error. Servers and state
are its own (--state); those that a DATABASE_URL or REDIS_URL of yours names are left alone.
"""

import argparse
import os
import sys
from pathlib import Path
from random import SystemRandom

from config.services.cleaning import drop_state
from config.services.errors import ServiceProblem
from config.services.house import REPOSITORY, House
from config.services.signals import StopRequested, stop_on_signals

SHORTEST_S = 5.0
# What is not ours to inherit: other servers, other keys, what a test around us has armed.
FOREIGN = ("PAWL_", "DJANGO_", "DATABASE_URL", "REDIS_URL", "PYTEST_", "COV_")


def say(text: str) -> None:
    print(f"==> {text}", file=sys.stderr, flush=True)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--duration", type=float, default=60.0, help="seconds of faults (60); the drain comes on top")
    parser.add_argument("--seed", type=int, default=None, help="of the plan; drawn where it is not given")
    parser.add_argument("--state", type=Path, default=REPOSITORY / ".pawl" / "chaos", help="folder; dropped first")
    asked = parser.parse_args(arguments)
    if asked.duration < SHORTEST_S:
        parser.error(f"--duration: no fewer than {SHORTEST_S:g} s, or not every fault would find its turn")
    seed = asked.seed if asked.seed is not None else SystemRandom().randrange(10**6)
    print(f"seed {seed}", flush=True)
    given = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}
    stop_on_signals()
    try:
        if not drop_state(asked.state):
            raise ServiceProblem(f"Chaos goes on in {asked.state}: stop it first.")
        with House(asked.state, say=say, given=given) as house:
            for name in set(os.environ) - set(house.environment):
                del os.environ[name]
            os.environ.update(house.environment)
            from tests.chaos.command import run  # here: it reads the settings

            return run(house, seed=seed, duration_s=asked.duration, say=say)
    except ServiceProblem as problem:
        say(f"Stopped: {problem}")
        return 1
    except StopRequested:
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
