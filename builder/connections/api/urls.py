from django.urls import path

from builder.connections.api import views

urlpatterns = [
    path("workspaces/<slug:workspace>/connections", views.ConnectionsView.as_view()),
    path("workspaces/<slug:workspace>/connections/<uuid:connection_id>", views.ConnectionView.as_view()),
    path("workspaces/<slug:workspace>/connection-kinds", views.ConnectionKindsView.as_view()),
]
