"""What one run tells another: written by the transition that it tells of, delivered in a transaction of the other."""

from uuid import UUID

from django.db import models


class Outbox(models.Model):
    """A row is there until it is delivered, in the very transaction that acts on it. In order for each step run;
    workspaces have their turns.
    """

    id = models.BigAutoField(primary_key=True)
    run_id = models.UUIDField()  # whose transition wrote it
    step_run_id = models.BigIntegerField()  # of the step that has, or wants, the child run
    # Whose turn it is. A worker of before this column writes none: such rows have one turn together.
    workspace_id = models.UUIDField(db_default=UUID(int=0))
    kind = models.CharField(max_length=16)  # call_child | stop_child | pause_child | child_done
    data = models.TextField(default="{}")
    not_before = models.DateTimeField()

    class Meta:
        indexes = [
            models.Index(fields=["step_run_id", "id"], name="outbox_of_step"),
            models.Index(fields=["workspace_id", "id"], name="outbox_turn"),
        ]
