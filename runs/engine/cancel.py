"""Cancel a run: what runs is told to stop, everything else ends at once."""

from typing import Any

from runs.core.commands import cancel
from runs.core.transition import Transition
from runs.engine.commands import Command, Commanded, command
from runs.store.read import Connection


def cancel_run(connection: Connection, wanted: Command) -> Commanded:
    """Raises NotPossibleNow where the run is already final or being cancelled."""

    def act(tx: Transition) -> dict[str, Any]:
        cancel(tx)
        return {"status": tx.run.status.value}

    return command(connection, wanted, act)
