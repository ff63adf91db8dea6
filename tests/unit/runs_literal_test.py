"""A column as PostgreSQL's array literal: one value and several are written alike."""

from uuid import UUID

import pytest

from runs.store.parts import literal


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "NULL"),
        (True, "t"),
        (False, "f"),
        (-7, "-7"),
        (0.5, "0.5"),
        (b"\x00\xff", '"\\\\x00ff"'),
        ("", '""'),
        ("NULL", '"NULL"'),
        ("{a,b}", '"{a,b}"'),
        ('say "no"', '"say \\"no\\""'),
        ("c:\\d", '"c:\\\\d"'),
        (UUID(int=5), '"00000000-0000-0000-0000-000000000005"'),
    ],
)
def test_a_value_is_written_so_alone_and_beside_others(value: object, text: str) -> None:
    assert literal([value]) == "{" + text + "}"
    assert literal([None, value]) == "{NULL," + text + "}"
