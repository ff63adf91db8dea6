"""The web process: HTTP by Django, websockets by channels."""

import os

from channels.auth import AuthMiddlewareStack
from channels.routing import ProtocolTypeRouter, URLRouter
from channels.security.websocket import AllowedHostsOriginValidator
from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
http = get_asgi_application()  # sets Django up: what follows imports models

from config.gate import BodyGate, SameOrigin  # noqa: E402
from runs.live.routing import websocket_urlpatterns  # noqa: E402

application = ProtocolTypeRouter(
    {
        "http": BodyGate(http),
        "websocket": AllowedHostsOriginValidator(
            SameOrigin(AuthMiddlewareStack(URLRouter(websocket_urlpatterns))),
        ),
    }
)
