from django.apps import AppConfig


class ConnectionsConfig(AppConfig):
    name = "builder.connections"
    label = "connections"
