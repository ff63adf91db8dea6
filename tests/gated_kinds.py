"""Step kinds whose bodies a test holds by files: it sees that one has begun, and says when it may go on."""

import base64
import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus

from steps.base import StepConfig, StepContext, StepFailure
from tests.kinds import kind

POLL_S = 0.01


class GateConfig(StepConfig):
    folder: str
    holds: list[int] = [1]  # the attempts that wait for the file `go`
    fails: list[int] = []


def gate(config: GateConfig, ctx: StepContext) -> dict[str, Any]:
    """Writes the file `<path>.<attempt>` in its folder, waits there for `go`, and says which attempt it was."""
    folder = Path(config.folder)
    (folder / f"{ctx.path}.{ctx.attempt}").touch()
    while ctx.attempt in config.holds and not (folder / "go").exists():
        time.sleep(POLL_S)
    if ctx.attempt in config.fails:
        raise StepFailure("not_this_time", f"attempt {ctx.attempt} was told to fail")
    return {"attempt": ctx.attempt, "fence": ctx.fence, "key": ctx.idempotency_key}


GATE_SPEC = kind(gate, config=GateConfig)


def late_effect(config: GateConfig, ctx: StepContext) -> dict[str, Any]:
    """As `gate`, and then does something outside: a line `<attempt> <fence> <key>` in the file `effects`. The gate lies
    between the intent and the effect.
    """

    def effect() -> dict[str, Any]:
        given = gate(config, ctx)
        with (Path(config.folder) / "effects").open("a") as outside:
            outside.write(f"{ctx.attempt} {ctx.fence} {ctx.idempotency_key}\n")
        return given

    found: dict[str, Any] = ctx.act("write", effect)
    return found


LATE_EFFECT_SPEC = kind(late_effect, config=GateConfig)


class LeakConfig(StepConfig):
    connection: str
    fails: bool = False


def leak(config: LeakConfig, ctx: StepContext) -> dict[str, Any]:
    """Puts a credential, in every form that is looked for, into everything that a body can say."""
    secret = str(ctx.connection(config.connection)["token"])
    shown = forms_of(secret)
    for form in shown:
        ctx.log(f"signing in with {form}!")
        print(f"printed {form}")
        ctx.progress(1, 2, f"as {form}")
        ctx.partial({"as": form, form: "name"})
        ctx.once(f"kept-{len(form)}", lambda form=form: [form])
    if config.fails:
        raise StepFailure("refused", f"no {' '.join(shown)}", data={"sent": shown})
    return {"all": shown, secret: True}


def forms_of(secret: str) -> list[str]:
    """As it stands, and as JSON, in an address, in base64 (whole, and in the middle of more), and in hex."""
    raw = secret.encode()
    around = [base64.b64encode(b"Bearer "[:length] + raw + b" end").decode() for length in (4, 5, 6)]
    return [
        secret, json.dumps(secret), quote(secret, safe=""), quote_plus(secret), base64.b64encode(raw).decode(),
        base64.urlsafe_b64encode(raw).decode(), *around, raw.hex(), raw.hex().upper(),
    ]  # fmt: skip


LEAK_SPEC = replace(kind(leak, config=LeakConfig), connection_kinds=("http",))
