"""Artifacts: files that an attempt made, kept by content. Refused where the fence is not the present one.

The row of the content is there before its file, and goes after it; whoever refers to it touches it in the same
statement. So a content that an artifact refers to always has its file, whatever a sweep does meanwhile.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import psycopg

from kit.failpoints import failpoint
from runs import artifacts as files
from runs.engine.checkpoint import FencedOut
from runs.store.claim import Held
from runs.store.read import Connection

Result = TypeVar("Result")
Retry = Callable[[Callable[[Connection, bool], Result]], Result]  # runs.link.Link.retry

TOUCH_FILE = """INSERT INTO runs_artifactfile (workspace_id, sha256, size, touched_at)
    VALUES (%s, %s, %s, statement_timestamp())
    ON CONFLICT (workspace_id, sha256) DO UPDATE SET touched_at = statement_timestamp() RETURNING id"""
KEEP = """WITH mine AS (
    SELECT s.id, s.attempt, s.fence FROM runs_steprun s
    WHERE s.id = %(step)s AND s.fence = %(fence)s AND s.status = 'running' FOR UPDATE OF s
), touched AS (
    UPDATE runs_artifactfile f SET touched_at = statement_timestamp() FROM mine WHERE f.id = %(file)s
), kept AS (
    INSERT INTO runs_artifact (step_run_id, attempt, fence, name, media_type, file_id, at)
    SELECT m.id, m.attempt, m.fence, %(name)s, %(media_type)s, %(file)s, statement_timestamp() FROM mine m
    ON CONFLICT (step_run_id, attempt, name) DO UPDATE SET file_id = excluded.file_id,
        media_type = excluded.media_type, at = excluded.at
)
SELECT count(*) FROM mine"""
LOOK = """SELECT f.id FROM runs_artifactfile f WHERE f.id > %s ORDER BY f.id LIMIT %s"""
TAKE_UNUSED = """SELECT f.id, f.workspace_id, f.sha256 FROM runs_artifactfile f WHERE f.id = ANY(%s)
    AND f.touched_at < statement_timestamp() - make_interval(secs => %s)
    AND NOT EXISTS (SELECT FROM runs_artifact a WHERE a.file_id = f.id) FOR UPDATE OF f SKIP LOCKED"""


def keep_artifact(retry: "Retry[Any]", held: Held, *, name: str, staged: Mapping[str, Any]) -> dict[str, Any]:
    """Keeps a staged file as the attempt's artifact of that name. Returns once it is stored; raises FencedOut.

    `staged` is {file, media_type}: the staged file's name, and what it is.
    """
    source = files.staged(held.workspace_id, staged["file"])
    try:
        sha256, size = files.digest(source)
        while True:
            try:
                _keep(retry, held, source, name=name, media_type=staged["media_type"], content=(sha256, size))
                break
            except psycopg.errors.ForeignKeyViolation:  # swept between our touching it and our referring to it
                continue
    finally:
        files.remove(source)
    return {"name": name, "media_type": staged["media_type"], "size": size, "sha256": sha256.hex()}


def _keep(
    retry: "Retry[Any]", held: Held, source: Path, *, name: str, media_type: str, content: tuple[bytes, int]
) -> None:
    sha256, size = content
    touch = (held.workspace_id, sha256, size)
    (file_id,) = retry(lambda connection, _: connection.execute(TOUCH_FILE, touch).fetchone())
    files.take_in(source, files.place_of(held.workspace_id, sha256))
    failpoint("after_upload")
    values = {
        "step": held.step_run_id, "fence": held.fence, "file": file_id, "name": name, "media_type": media_type,
    }  # fmt: skip
    if retry(lambda connection, _: connection.execute(KEEP, values).fetchone()) != (1,):
        raise FencedOut("Another attempt owns this step now.", path=held.path)


def sweep_files(connection: Connection, *, after: int, batch: int, grace_s: float) -> tuple[int, int]:
    """Looks at the next contents, and removes those that no artifact refers to: the file first, under the row's lock.
    Answers the last id (0: there is no other), and how many it took away.
    """
    looked = [id_ for (id_,) in connection.execute(LOOK, (after, batch))]
    with connection.transaction():
        unused = connection.execute(TAKE_UNUSED, (looked, grace_s)).fetchall()
        for _, workspace_id, sha256 in unused:
            files.remove(files.place_of(workspace_id, bytes(sha256)))
        connection.execute("DELETE FROM runs_artifactfile WHERE id = ANY(%s)", ([id_ for id_, _, _ in unused],))
    return (looked[-1] if looked else 0), len(unused)
