"""The run page while the network is away: honest meanwhile, complete afterwards."""

import re
import time
from collections.abc import Callable
from itertools import pairwise

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.e2e.api import Api, edge, node
from tests.e2e.conftest import Complaints
from tests.e2e.pages import Pawl
from tests.e2e.stack import Stack
from tests.proxy import Proxy

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240)]

CUT_S = 20
# start -> four waits of six seconds -> output: it goes on while nobody can see it, and ends when all is well again.
PAUSES = [f"pause_{number}" for number in range(1, 5)]
CHAIN = ["start", *PAUSES, "output"]


def test_twenty_seconds_without_a_network_leave_no_gap_and_no_double(
    open_context: Callable[..., BrowserContext], stack: Stack, api: Api, complaints: Complaints
) -> None:
    complaints.expected += ("WebSocket connection to",)
    workflow = api.draw(
        "Waits in a row",
        nodes=[
            node("start"),
            *[node("delay", key=key, config={"seconds": 6}, at=(240 * at, 0)) for at, key in enumerate(PAUSES, 1)],
            node("output", config={"value": "{{ run.number }}"}, at=(1200, 0)),
        ],
        edges=[edge(*pair) for pair in pairwise(CHAIN)],
    )
    with Proxy(stack.port) as network:
        context = open_context(base_url=f"http://127.0.0.1:{network.port}")
        context.add_cookies(api.cookies())
        pawl = Pawl(context.new_page(), workspace="acme")
        run = pawl.open_run(api.start(workflow), view="events")
        expect(pawl.connection).to_have_text("live")
        expect(run.events).to_be_visible()

        network.cut()
        gone_at = time.monotonic()
        expect(pawl.connection).to_have_text(re.compile("^(reconnecting…|polling|offline)$"))
        expect(pawl.connection).to_have_text("offline")  # once it has asked, and nobody answered
        before = run.numbers_of_events()
        run.page.wait_for_timeout(1000 * max(0.0, CUT_S - (time.monotonic() - gone_at)))
        assert len(api.events(run.run_id)) > len(before), "nothing happened meanwhile: the test would show nothing"
        network.mend()

        expect(pawl.connection).to_have_text("live")
        run.expect_status("succeeded")
        events = api.events(run.run_id)
        expect(run.events.get_by_role("row")).to_have_count(len(events) + 1)
        assert run.numbers_of_events() == list(range(len(events), 0, -1))
        run.show("Canvas")
        for step in api.get(f"/runs/{run.run_id}")["steps"]:
            assert step["status"] == "succeeded", step
            run.expect_step(step["path"], "succeeded")
