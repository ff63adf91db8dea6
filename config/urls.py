"""Every address of Pawl, in one place. Below /api are the doors of the rooms; the rest belongs to the application."""

from allauth.account import urls as account_urls
from django.conf import settings
from django.contrib import admin
from django.templatetags.static import static
from django.urls import URLPattern, URLResolver, include, path, re_path
from django.views.generic import RedirectView

from config import errors, health, shell

api_patterns: list[URLPattern | URLResolver] = [
    path("health", health.HealthView.as_view()),
    path("", include("teams.api.urls")),
    path("", include("builder.connections.api.urls")),
    path("", include("builder.workflows.api.urls")),
    path("", include("runs.api.urls")),
    path("", include("sample.urls")),
]

# What works without mail; the rest (forgotten passwords, changed addresses) is there once a mail server is named.
WITHOUT_MAIL = (
    "account_login",
    "account_logout",
    "account_signup",
    "account_inactive",
    "account_change_password",
    "account_reauthenticate",
)
accounts_patterns = [each for each in account_urls.urlpatterns if settings.EMAIL_HOST or each.name in WITHOUT_MAIL]

urlpatterns: list[URLPattern | URLResolver] = [
    path("healthz", health.alive),
    path("favicon.ico", RedirectView.as_view(url=static("pawl/mark.svg"))),
    path("api/", include(api_patterns)),
    re_path(r"^api/(?P<rest>.*)$", errors.unknown_api_route),
    path("hooks/", include("runs.api.hook_urls")),  # for other people's programs: no session, no CSRF token
    path("accounts/", include(accounts_patterns)),
    path("admin/", admin.site.urls),
    re_path(r"^(?!api/|hooks/|accounts/|admin/|static/|ws/)(?P<rest>.*)$", shell.app, name="app"),
]

handler400 = errors.bad_request
handler403 = errors.forbidden
handler404 = errors.not_found
handler500 = errors.server_error
