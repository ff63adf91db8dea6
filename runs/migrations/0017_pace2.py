"""Takes away the indexes that another one begins with, and the one that none of the statements reads any more.

The database's part is said by hand: Django would make each foreign key anew, and check every row for it.
"""

from typing import Any

import django.db.models.deletion
from django.db import migrations, models


def _keyed(
    model: str, name: str, *, to: str, related_name: str, how: Any = django.db.models.deletion.PROTECT
) -> migrations.AlterField:
    return migrations.AlterField(
        model, name, models.ForeignKey(db_index=False, on_delete=how, related_name=related_name, to=to)
    )


# (index, table, columns), each under the name that Django gave it
NEEDLESS = (
    ("runs_run_workspace_id_c1222b68", "runs_run", "workspace_id"),
    ("runs_run_workflow_id_a08af1d8", "runs_run", "workflow_id"),
    ("runs_wait_step_run_id_d0054129", "runs_wait", "step_run_id"),
    ("runs_bulkoperation_workspace_id_00558d63", "runs_bulkoperation", "workspace_id"),
    ("runs_artifactfile_workspace_id_d99bc9e1", "runs_artifactfile", "workspace_id"),
)


class Migration(migrations.Migration):
    dependencies = [("runs", "0016_starts")]

    operations = [
        migrations.RemoveIndex("steprun", "step_run_due"),
        migrations.SeparateDatabaseAndState(
            state_operations=[
                _keyed("run", "workspace", to="teams.workspace", related_name="runs"),
                _keyed("run", "workflow", to="workflows.workflow", related_name="runs"),
                _keyed(
                    "wait", "step_run", to="runs.steprun", related_name="waits", how=django.db.models.deletion.CASCADE
                ),
                _keyed("bulkoperation", "workspace", to="teams.workspace", related_name="bulk_operations"),
                _keyed("artifactfile", "workspace", to="teams.workspace", related_name="+"),
            ],
            database_operations=[
                migrations.RunSQL(f"DROP INDEX IF EXISTS {name}", f"CREATE INDEX {name} ON {table} ({columns})")
                for name, table, columns in NEEDLESS
            ],
        ),
    ]
