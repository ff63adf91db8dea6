"""Links of steps that wait for a callback: they must be those of a step that is there."""

import pytest

from builder.expressions import callbacks
from tests.graphs import draw
from tests.unit.builder_validation.library import found

WRONG = [("callback_unknown", "A", "fields.x")]


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        ("{{ run.callbacks.K }}", []),
        ("{{ run.callbacks['K'] }}", []),
        ("{{ run.callbacks.A }}", WRONG),
        ("{{ run.callbacks.L }}", WRONG),
        ("{{ run.callbacks }}", WRONG),
        ("{{ run.callbacks[run.input.which] }}", WRONG),
    ],
)
def test_a_link_is_that_of_a_step_that_waits_for_a_callback(
    text: str, problems: list[tuple[str, str | None, str | None]]
) -> None:
    assert found(draw("S > A > K:callback", configs={"A": {"fields": {"x": text}}})) == problems


def test_a_link_is_known_in_its_own_container_and_below() -> None:
    link = {"fields": {"x": "{{ run.callbacks.K }}"}}
    assert found(draw("S > E[A > K:callback]", configs={"A": link})) == []
    assert found(draw("S > E[A], E > K:callback", configs={"A": link})) == []
    assert found(draw("S > A > E[K:callback]", configs={"A": link})) == WRONG


def test_the_links_that_settings_send_out_are_read_from_their_text() -> None:
    config = {"a": "{{ run.callbacks.one }} {{ run.input.x }}", "b": ["{{ run.callbacks['two'] }}"], "c": "{{ broken"}
    assert callbacks(config) == {"one", "two"}
