"""docs/checks.md says what can be found."""

import re
from pathlib import Path

from builder.graph.errors import GraphError
from builder.validation import CODES

PAGE = (Path(__file__).parents[3] / "docs" / "checks.md").read_text(encoding="utf-8")


def test_the_page_lists_every_code_with_its_severity() -> None:
    assert dict(re.findall(r"^\| `(\w+)` \| (\w+) \|", PAGE, flags=re.MULTILINE)) == dict(CODES)
    assert f"`{GraphError.code}`" in PAGE
