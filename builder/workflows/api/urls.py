from django.urls import path

from builder.workflows.api import step_kinds, views

WORKSPACE = "workspaces/<slug:workspace>"
WORKFLOW = f"{WORKSPACE}/workflows/<uuid:workflow_id>"

urlpatterns = [
    path(f"{WORKSPACE}/step-kinds", step_kinds.StepKindsView.as_view()),
    path(f"{WORKSPACE}/workflows", views.WorkflowsView.as_view()),
    path(WORKFLOW, views.WorkflowView.as_view()),
    path(f"{WORKFLOW}/draft", views.DraftView.as_view()),
    path(f"{WORKFLOW}/check", views.CheckView.as_view()),
    path(f"{WORKFLOW}/describe", step_kinds.DescribeView.as_view()),
    path(f"{WORKFLOW}/publish", views.PublishView.as_view()),
    path(f"{WORKFLOW}/versions", views.VersionsView.as_view()),
    path(f"{WORKFLOW}/versions/<int:number>", views.VersionView.as_view()),
    path(f"{WORKFLOW}/steps/<str:node>/history", views.StepHistoryView.as_view()),
]
