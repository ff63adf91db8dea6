"""The run page while the network is away: honest meanwhile, complete afterwards."""

import re
import time
from collections.abc import Callable
from itertools import pairwise

import pytest
from playwright.sync_api import BrowserContext, WebSocketRoute, expect

from tests.e2e.api import Api, edge, node
from tests.e2e.conftest import Complaints
from tests.e2e.outside import Outside
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


WITHIN_MS = 5_000  # of the loss, or of the membership's end


def _held(api: Api, outside: Outside) -> str:
    """A run of which one step runs until the outside opens."""
    outside.is_open.clear()
    workflow = api.draw(
        "Waits for the outside",
        nodes=[
            node("start"),
            node("http_request", key="slow", config={"url": f"http://{outside.address}/slow"}, at=(260, 0)),
            node("output", config={"value": "done"}, at=(520, 0)),
        ],
        edges=[edge("start", "slow"), edge("slow", "output")],
    )
    run = api.start(workflow)
    api.await_step(run, "slow", "running")
    return run


def test_a_network_that_falls_silent_is_told_within_five_seconds_and_nothing_is_said_to_run(
    open_context: Callable[..., BrowserContext], stack: Stack, api: Api, outside: Outside, complaints: Complaints
) -> None:
    complaints.expected += ("WebSocket connection to",)
    with Proxy(stack.port) as network:
        context = open_context(base_url=f"http://127.0.0.1:{network.port}")
        context.add_cookies(api.cookies())
        pawl = Pawl(context.new_page(), workspace="acme")
        run = pawl.open_run(_held(api, outside), step="slow")
        expect(pawl.connection).to_have_text("live")
        run.expect_step("slow", "running")
        told = run.page.get_by_role("status", name="Connection of this page")
        expect(told).to_be_empty()

        network.stall()  # every connection stays open, and nothing passes: no error, no end
        expect(told).to_contain_text("You see the run as it was then", timeout=WITHIN_MS)
        expect(run.step("slow").get_by_text("was running", exact=True)).to_be_visible(timeout=1000)
        expect(run.page.get_by_text("running", exact=True)).to_have_count(0)
        outside.is_open.set()
        api.await_run(run.run_id, status="succeeded")
        network.mend()

        expect(told).to_be_empty()
        run.expect_status("succeeded")


def test_a_page_whose_socket_is_refused_goes_on_by_asking_from_its_last_event(
    pawl: Pawl, api: Api, outside: Outside, complaints: Complaints
) -> None:
    complaints.expected += ("WebSocket connection to",)
    is_open = True
    sockets: list[WebSocketRoute] = []

    def pass_on(socket: WebSocketRoute) -> None:
        if not is_open:
            socket.close()
            return
        socket.connect_to_server()
        sockets.append(socket)

    pawl.page.route_web_socket(re.compile("/ws/live$"), pass_on)
    run = pawl.open_run(_held(api, outside))
    expect(pawl.connection).to_have_text("live")
    run.expect_step("slow", "running")
    is_open = False
    sockets[-1].close()
    expect(pawl.connection).to_have_text("polling", timeout=WITHIN_MS)
    told = run.page.get_by_role("status", name="Connection of this page")
    expect(told).to_contain_text("asks every two seconds, from event ")
    run.expect_step("slow", "running")  # it is asked about: that is no guess
    outside.is_open.set()
    run.expect_status("succeeded")
    run.show("Events")
    count = len(api.events(run.run_id))
    expect(run.events.get_by_role("row")).to_have_count(count + 1)
    assert run.numbers_of_events() == list(range(count, 0, -1))
    is_open = True
    expect(pawl.connection).to_have_text("live")
    expect(told).to_be_empty()


@pytest.mark.parametrize("has_socket", [True, False], ids=["by the socket", "while it is away"])
def test_a_membership_that_is_taken_away_closes_the_page_within_five_seconds(
    open_context: Callable[..., BrowserContext], stack: Stack, api: Api, outside: Outside, has_socket: bool
) -> None:
    told = stack.manage("add_person", "bob@example.com", "--workspace", "acme", "--role", "viewer")
    found = re.search(r"password\s+(\S+)", told)
    password = found[1] if found else stack.manage("shell", "-v0", "-c", NEW_PASSWORD).strip()
    context = open_context(base_url=stack.url)
    pawl = Pawl(context.new_page(), workspace="acme")
    if not has_socket:
        pawl.page.route_web_socket(re.compile("/ws/live$"), lambda socket: socket.close())
    pawl.sign_in("bob@example.com", password)
    run = pawl.open_run(_held(api, outside), step="slow")
    expect(pawl.connection).to_have_text("live" if has_socket else "polling")
    run.expect_step("slow", "running")
    stack.manage("shell", "-v0", "-c", REMOVE)
    expect(run.title).to_be_hidden(timeout=WITHIN_MS)
    expect(run.step("slow")).to_have_count(0)
    outside.is_open.set()


BOB = "from teams.models import Membership, User; bob = User.objects.get(email='bob@example.com'); "
NEW_PASSWORD = BOB + "bob.set_password('a long word of bob 1'); bob.save(); print('a long word of bob 1')"
REMOVE = BOB + "Membership.objects.filter(user=bob).delete()"
