"""Bubblewrap as the outer wall, for machines whose kernel has no Landlock, or that have no libseccomp."""

import os
import shutil
import subprocess
import sys
import sysconfig
from functools import cache
from pathlib import Path

from steps.python import jail

PROBE_LIMIT_S = 10
NAMESPACES = ("--unshare-all", "--die-with-parent", "--cap-drop", "ALL")


@cache
def is_needed() -> bool:
    """The sandbox's own walls are quicker to put up, so they come first where both stand."""
    return not jail.landlock_version() or jail.seccomp_library() is None


@cache
def bubblewrap() -> str | None:
    """Where the program is, if it works: many machines have it and forbid the namespaces that it needs."""
    program = shutil.which("bwrap")
    if program is None:
        return None
    try:
        probe = [program, *NAMESPACES, "--ro-bind", "/", "/", "true"]
        tried = subprocess.run(probe, check=False, capture_output=True, timeout=PROBE_LIMIT_S)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return program if tried.returncode == 0 else None


def command(inside: Path, arguments: list[str], *, program: str | None) -> list[str]:
    """How the sandbox process is started: by itself, or below `program` (bubblewrap), which shows it what it reads."""
    if program is None:
        return [sys.executable, "-I", "-S", str(inside), *arguments]
    python = os.path.realpath(sys.executable)  # a virtual environment's is a link to what lies elsewhere
    # the interpreter's own library, or the linker takes the system's, which may be of another release
    library = f"{sysconfig.get_config_var('LIBDIR')}/{sysconfig.get_config_var('INSTSONAME')}"
    shown: list[str] = []
    for place in dict.fromkeys([*jail.places(), python, library, str(inside.parent)]):
        if Path(place).is_symlink():
            shown += ["--symlink", str(Path(place).readlink()), place]
        elif Path(place).exists():
            shown += ["--ro-bind", place, place]
    return [
        program,
        *NAMESPACES,
        *shown,
        "--remount-ro",
        "/",
        "--chdir",
        "/",
        python,
        "-I",
        "-S",
        str(inside),
        *arguments,
    ]
