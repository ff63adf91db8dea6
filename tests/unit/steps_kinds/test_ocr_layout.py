import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steps.ocr.layout import Piece, Point, rows, skew


def piece(text: str, *, x: float, y: float, lean_deg: float = 0.0, width: float = 100.0) -> Piece:
    """A piece of 20 pixels' height whose top left corner stands at x, y on the sheet before it was turned."""
    angle = math.radians(lean_deg)

    def turned(px: float, py: float) -> Point:
        return px * math.cos(angle) - py * math.sin(angle), px * math.sin(angle) + py * math.cos(angle)

    box = (turned(x, y), turned(x + width, y), turned(x + width, y + 20), turned(x, y + 20))
    return Piece(text, 0.9, box)


def words(pieces: list[Piece]) -> list[list[str]]:
    return [[each.text for each in row] for row in rows(pieces)]


@pytest.mark.parametrize("lean_deg", [0.0, 3.0, -5.0, 12.0])
def test_rows_are_read_from_top_to_bottom_also_on_a_sheet_that_leans(lean_deg: float) -> None:
    sheet = [
        piece("12.50", x=700, y=62, lean_deg=lean_deg), piece("Desk", x=10, y=60, lean_deg=lean_deg),
        piece("Total", x=10, y=100, lean_deg=lean_deg), piece("Invoice", x=10, y=20, lean_deg=lean_deg),
        piece("Qty 3", x=400, y=58, lean_deg=lean_deg), piece("99.00", x=700, y=101, lean_deg=lean_deg),
    ]  # fmt: skip
    assert words(sheet) == [["Invoice"], ["Desk", "Qty 3", "12.50"], ["Total", "99.00"]]
    assert math.degrees(skew(sheet)) == pytest.approx(lean_deg, abs=0.01)


def test_an_empty_sheet_has_no_rows() -> None:
    assert rows([]) == []


def test_a_small_speck_does_not_turn_the_sheet() -> None:
    speck = piece("'", x=500, y=500, lean_deg=40, width=4)
    assert math.degrees(skew([piece("Invoice", x=10, y=20, width=300), speck])) == pytest.approx(0, abs=0.01)


@given(st.lists(st.tuples(st.integers(0, 1000), st.integers(0, 1000)), max_size=20), st.floats(-15, 15))
def test_every_piece_is_in_one_row_once(places: list[tuple[int, int]], lean_deg: float) -> None:
    sheet = [piece(str(number), x=x, y=y, lean_deg=lean_deg) for number, (x, y) in enumerate(places)]
    assert sorted(text for row in words(sheet) for text in row) == sorted(each.text for each in sheet)
