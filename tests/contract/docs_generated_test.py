"""The parts of docs/ that are made from the code are as the code is now."""

from pathlib import Path

import pytest

from config import docs
from runs.core.states import RUN_MOVES, STEP_MOVES, RunStatus, StepStatus


@pytest.mark.parametrize("page", docs.pages(), ids=lambda page: page.name)
def test_a_page_is_as_the_code_says(page: Path) -> None:
    assert page.read_text() == docs.pages()[page], "run: make docs"


def test_a_diagram_has_one_arrow_for_each_move() -> None:
    for moves, first in ((STEP_MOVES, StepStatus.PENDING), (RUN_MOVES, RunStatus.RUNNING)):
        lines = docs.state_diagram(moves, first=first).splitlines()
        arrows = {tuple(line.strip().split(" --> ")) for line in lines if "-->" in line and "[*]" not in line}
        assert arrows == {(before, after) for before, afters in moves.items() for after in afters}


def test_a_page_without_its_block_is_told() -> None:
    with pytest.raises(docs.MissingBlock, match="run-states"):
        docs.guarantees_page("# What the engine guarantees\n")
