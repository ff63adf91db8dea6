from django.urls import path

from runs.api import bulk, callbacks, keeping, limits, recovery, triggers, views

TRIGGER = "workspaces/<slug:workspace>/triggers/<uuid:trigger_id>"
RUN = "workspaces/<slug:workspace>/runs/<uuid:run_id>"
BULK = "workspaces/<slug:workspace>/bulk/<uuid:bulk_id>"

urlpatterns = [
    path("workspaces/<slug:workspace>/workflows/<uuid:workflow_id>/runs", views.StartView.as_view()),
    path("workspaces/<slug:workspace>/runs", views.RunsView.as_view()),
    path(RUN, views.RunView.as_view()),
    path(f"{RUN}/events", views.EventsView.as_view()),
    path(f"{RUN}/preview", recovery.PreviewView.as_view()),
    path(f"{RUN}/resume", views.ResumeView.as_view()),
    path(f"{RUN}/fork", recovery.ForkView.as_view()),
    path(f"{RUN}/cancel", views.CancelView.as_view()),
    path(f"{RUN}/pause", views.PauseView.as_view()),
    path(f"{RUN}/unpause", views.UnpauseView.as_view()),
    path(f"{RUN}/breakpoints", views.BreakpointsView.as_view()),
    path(f"{RUN}/steps/<str:path>", views.StepView.as_view()),
    path(f"{RUN}/steps/<str:path>/logs", views.LogsView.as_view()),
    path(f"{RUN}/steps/<str:path>/decide", views.DecideView.as_view()),
    path(f"{RUN}/steps/<str:path>/edit-input", recovery.EditInputView.as_view()),
    path(f"{RUN}/steps/<str:path>/skip", recovery.SkipView.as_view()),
    path(f"{RUN}/steps/<str:path>/supply", recovery.SupplyView.as_view()),
    path(f"{RUN}/steps/<str:path>/retry-now", recovery.RetryNowView.as_view()),
    path(f"{RUN}/steps/<str:path>/artifacts", keeping.ArtifactsView.as_view()),
    path(f"{RUN}/artifacts/<int:artifact_id>", keeping.ArtifactView.as_view()),
    path(f"{RUN}/items/<str:path>", views.ItemsView.as_view()),
    path("workspaces/<slug:workspace>/retention", keeping.RetentionView.as_view()),
    path(f"{RUN}/steps/<str:path>/callback-link", callbacks.LinkView.as_view()),
    path("callbacks/<str:token>", callbacks.CallbackView.as_view()),
    path("workspaces/<slug:workspace>/bulk", bulk.BulksView.as_view()),
    path("workspaces/<slug:workspace>/bulk/preview", bulk.BulkPreviewView.as_view()),
    path(BULK, bulk.BulkView.as_view()),
    path(f"{BULK}/runs", bulk.BulkRunsView.as_view()),
    path(f"{BULK}/stop", bulk.BulkStopView.as_view()),
    path(f"{BULK}/continue", bulk.BulkContinueView.as_view()),
    path("workspaces/<slug:workspace>/waits", views.WaitsView.as_view()),
    path("workspaces/<slug:workspace>/waits/<uuid:wait_id>/answer", views.AnswerView.as_view()),
    path("workspaces/<slug:workspace>/workflows/<uuid:workflow_id>/triggers", triggers.WorkflowTriggersView.as_view()),
    path("workspaces/<slug:workspace>/triggers", triggers.TriggersView.as_view()),
    path(TRIGGER, triggers.TriggerView.as_view()),
    path(f"{TRIGGER}/firings", triggers.FiringsView.as_view()),
    path(f"{TRIGGER}/backfill", triggers.BackfillView.as_view()),
    path(f"{TRIGGER}/secret", triggers.SecretView.as_view()),
    path("workspaces/<slug:workspace>/limits", limits.LimitsView.as_view()),
    path("workspaces/<slug:workspace>/limit", limits.WorkspaceLimitView.as_view()),
    path("workspaces/<slug:workspace>/workflows/<uuid:workflow_id>/limit", limits.WorkflowLimitView.as_view()),
    path("lanes", limits.LanesView.as_view()),
    path("lanes/<str:lane>/limit", limits.LaneLimitView.as_view()),
    path("workspaces/<slug:workspace>/schedule-preview", triggers.PreviewScheduleView.as_view()),
]
