"""Every address of Pawl, in one place. Below /api are the doors of the rooms; the rest belongs to the application."""

from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path, re_path

from config import errors, health, shell

api_patterns: list[URLPattern | URLResolver] = [
    path("health", health.HealthView.as_view()),
    path("", include("teams.api.urls")),
    path("", include("builder.connections.api.urls")),
    path("", include("builder.workflows.api.urls")),
    path("", include("runs.api.urls")),
    path("", include("sample.urls")),
]

urlpatterns: list[URLPattern | URLResolver] = [
    path("healthz", health.alive),
    path("api/", include(api_patterns)),
    re_path(r"^api/(?P<rest>.*)$", errors.unknown_api_route),
    path("accounts/", include("allauth.urls")),
    path("admin/", admin.site.urls),
    re_path(r"^(?!api/|accounts/|admin/|static/|ws/)(?P<rest>.*)$", shell.app, name="app"),
]

handler400 = errors.bad_request
handler403 = errors.forbidden
handler404 = errors.not_found
handler500 = errors.server_error
