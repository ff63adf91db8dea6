"""python -m config.services run | exec -- <command> | offline -- <command>   (the Makefile calls these)"""

import argparse
import os
import sys
from pathlib import Path

from config.services.cleaning import drop_state
from config.services.errors import ServiceProblem
from config.services.execute import execute, execute_offline
from config.services.house import REPOSITORY
from config.services.run import run


def say(text: str) -> None:
    print(f"==> {text}", file=sys.stderr, flush=True)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m config.services", description=__doc__)
    default = Path(os.environ.get("PAWL_STATE_DIR") or REPOSITORY / ".pawl")
    parser.add_argument("--state", type=Path, default=default, help="folder of the data, keys and logs (.pawl)")
    parser.add_argument("--fresh", action="store_true", help="drop what the folder holds first")
    commands = parser.add_subparsers(dest="what", required=True)
    commands.add_parser("run", help="everything, until Ctrl-C")
    one = commands.add_parser("exec", help="one command with PostgreSQL and Redis up")
    one.add_argument("command", nargs=argparse.REMAINDER)
    offline = commands.add_parser("offline", help="one command that reads the settings and needs no server")
    offline.add_argument("command", nargs=argparse.REMAINDER)
    asked = parser.parse_args(arguments)
    try:
        if asked.fresh and not drop_state(asked.state):
            raise ServiceProblem(f"Pawl runs in {asked.state}: stop it first (Ctrl-C in its terminal).")
        if asked.what == "run":
            return run(asked.state, say=say)
        command = asked.command[1:] if asked.command[:1] == ["--"] else asked.command
        if not command:
            parser.error("a command is missing, for example: exec -- python manage.py shell")
        if asked.what == "offline":
            return execute_offline(command)
        return execute(asked.state, command, say=say)
    except ServiceProblem as problem:
        say(f"Stopped: {problem}")
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
