"""docs/faults.md has each of the 64 faults once, each with a test; only two may be tried by hand alone."""

import re

from tests.contract.sources import text

PAGE = "docs/faults.md"
ROW = re.compile(r"^\| (\d+) \| (.+?) \| (.+?) \| (.+?) \|$", re.MULTILINE)
TEST = re.compile(r"`\w+_test\.py::test_\w+`")  # docs_links_test.py looks whether it is there
FAULTS = 64
BY_HAND = {34, 36}


def test_each_fault_has_its_row_and_each_row_its_test() -> None:
    rows = {int(number): tests for number, _, _, tests in ROW.findall(text(PAGE))}
    assert list(rows) == list(range(1, FAULTS + 1))
    without = {number for number, tests in rows.items() if not TEST.search(tests)}
    assert without <= BY_HAND
    assert {number for number, tests in rows.items() if "by hand" in tests} <= BY_HAND
    assert all("operating.md#" in rows[number] for number in BY_HAND)
