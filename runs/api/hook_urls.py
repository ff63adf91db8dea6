from django.urls import path

from runs.api import hooks

urlpatterns = [
    path("<str:path>", hooks.HookView.as_view()),
    path("<str:path>/runs/<uuid:run_id>", hooks.HookRunView.as_view()),
]
