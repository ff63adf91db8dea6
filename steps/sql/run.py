from functools import partial
from typing import Any

from steps import connections
from steps.base import StepContext, StepFailure
from steps.connections import SqlConnection
from steps.sql.spec import SqlConfig
from steps.sql.statement import Statement, parse

IDEMPOTENCY_KEY = "idempotency_key"


def run(config: SqlConfig, ctx: StepContext) -> dict[str, Any]:
    settings = connections.read(ctx, config.connection, SqlConnection)
    statement = parse(config.statement)
    values = {IDEMPOTENCY_KEY: ctx.idempotency_key, **config.parameters}
    missing = [name for name in statement.names if name not in values]
    if missing:
        raise StepFailure(
            "parameter_missing",
            f"The statement reads :{missing[0]}, which is not among the parameters: {sorted(values)}.",
        )
    unused = sorted(config.parameters.keys() - set(statement.names))
    if unused:
        ctx.log(f"the statement does not read these parameters: {', '.join(unused)}")
    execute = partial(_execute, config, ctx, settings=settings, statement=statement, values=values)
    found = execute() if config.read_only else ctx.act("statement", execute, statement=config.statement)
    ctx.log(f"{found['count']} rows {'read' if found['columns'] else 'changed'}")
    return found


def _execute(
    config: SqlConfig, ctx: StepContext, *, settings: SqlConnection, statement: Statement, values: dict[str, Any]
) -> dict[str, Any]:
    """A driver is imported where it is needed: most children meet one of the two."""
    if settings.engine == "sqlite":
        from steps.sql import sqlite

        return sqlite.run(statement, values, settings=settings, config=config, root=ctx.storage_root)
    from steps.sql import postgresql

    return postgresql.run(statement, values, settings=settings, config=config, allow=ctx.outbound_allow)
