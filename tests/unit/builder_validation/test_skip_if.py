"""What leaves a step out is an expression, and may read what the step itself may read."""

import pytest

from builder.graph.model import Policy
from tests.graphs import draw
from tests.unit.builder_validation.library import found

AT = "policy.skip_if"


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        ("{{ run.input.dry }}", []),
        ("{{ steps.A.output.done }}", []),
        ("true", [("skip_if_constant", "B", AT)]),
        ("{{ steps.C.output }}", [("reference_not_upstream", "B", AT)]),
        ("{{ nobody }}", [("unknown_name", "B", AT)]),
        ("{{ broken", [("bad_expression", "B", AT)]),
    ],
)
def test_what_leaves_a_step_out_is_checked_as_its_settings_are(
    text: str, problems: list[tuple[str, str | None, str | None]]
) -> None:
    assert found(draw("S > A > B > C", policies={"B": Policy(skip_if=text)})) == problems
