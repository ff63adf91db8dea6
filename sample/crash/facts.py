"""Reads through the API what Pawl's tables say of a run."""

from datetime import datetime

from sample.crash.clients import PawlClient, Row
from sample.crash.compare import RunFacts, StepFacts
from sample.crash.launches import LaunchLog


def read_facts(pawl: PawlClient, launches: LaunchLog, run: str, *, broke_at: float) -> RunFacts:
    snapshot = pawl.get(f"/runs/{run}")
    kinds = {row["kind"]: row["execution"] for row in pawl.everything("/step-kinds")}
    rows = {row["path"]: row for row in snapshot["steps"]}
    for container in [row for row in rows.values() if row.get("map")]:
        rows |= {row["path"]: row for row in pawl.everything(f"/runs/{run}/items/{container['path']}", limit=200)}
    successes = {row["path"]: row for row in events_of(pawl, run) if row["type"] == "step.succeeded"}
    steps = [
        _step(pawl.get(f"/runs/{run}/steps/{path}"), row, success=successes.get(path), execution=kinds[row["kind"]])
        for path, row in rows.items()
    ]
    return RunFacts(run, snapshot["run"]["status"], steps, launches.of(run), broke_at)


def events_of(pawl: PawlClient, run: str) -> list[Row]:
    found: list[Row] = []
    while True:
        page = pawl.get(f"/runs/{run}/events", after=found[-1]["seq"] if found else 0)
        if not page["items"]:
            return found
        found += page["items"]


def _step(detail: Row, row: Row, *, success: Row | None, execution: str) -> StepFacts:
    return StepFacts(
        path=row["path"],
        attempts=len(detail["attempts"]),
        status=row["status"],
        key=row["idempotency_key"] or "",
        waits=len(detail["waits"]),
        started_at=row["started_at"],
        finished_at=row["finished_at"],
        succeeded_at=datetime.fromisoformat(success["at"]) if success else None,
        succeeded_attempt=(success["attempt"] or 0) if success else 0,
        has_body=execution != "compute",
    )
