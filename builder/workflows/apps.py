from django.apps import AppConfig


class WorkflowsConfig(AppConfig):
    name = "builder.workflows"
    label = "workflows"
