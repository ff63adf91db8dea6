from django.urls import path

from teams.api import views

urlpatterns = [
    path("session", views.SessionView.as_view()),
    path("workspaces/<slug:workspace>/members", views.MembersView.as_view()),
]
