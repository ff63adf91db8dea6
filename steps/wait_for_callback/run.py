import hashlib
import json
from typing import Any

from steps.base import StepContext, WaitFor
from steps.http_request.run import send
from steps.http_request.spec import HttpRequestConfig
from steps.wait_for_callback.spec import WaitForCallbackConfig


def run(config: WaitForCallbackConfig, ctx: StepContext) -> WaitFor:
    if config.notify_url:
        _tell(config, ctx)
    return WaitFor("callback", seconds=config.deadline_s, data={"title": config.title, "told": config.notify_url})


def _tell(config: WaitForCallbackConfig, ctx: StepContext) -> None:
    """Sends the link, once for each link: after a resume it is another one, which the other side must not take for a
    repeat.
    """
    told = json.dumps([config.notify_url, config.notify_body, ctx.idempotency_key], sort_keys=True)
    key = hashlib.sha256(told.encode("ascii")).hexdigest()[:32]
    request = HttpRequestConfig(
        method="POST",
        url=config.notify_url,
        connection=config.connection,
        headers={"Idempotency-Key": key, **config.notify_headers},
        body_type="json",
        body=config.notify_body,
        response_type="text",
    )

    def tell() -> Any:
        return ctx.act(f"tell {key}", lambda: send(request, ctx)["status"], method="POST", url=config.notify_url)

    ctx.once(f"told {key}", tell)
