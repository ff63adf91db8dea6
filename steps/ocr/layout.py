"""Puts recognised pieces of text in reading order: rows from top to bottom, also on a page that was scanned askew."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

Point = tuple[float, float]


@dataclass(frozen=True)
class Piece:
    text: str
    confidence: float
    box: tuple[Point, Point, Point, Point]  # corners: top left, top right, bottom right, bottom left


def rows(pieces: Sequence[Piece]) -> list[list[Piece]]:
    """Pieces whose middles lie within half a line's height belong to one row; each row from left to right."""
    if not pieces:
        return []
    angle = skew(pieces)
    placed = sorted(((_middle(piece, angle), piece) for piece in pieces), key=lambda each: each[0][1])
    found: list[list[tuple[Point, Piece]]] = []
    for middle, piece in placed:
        if found and middle[1] - _row_middle(found[-1]) < _height(piece) / 2:
            found[-1].append((middle, piece))
        else:
            found.append([(middle, piece)])
    return [[piece for _, piece in sorted(row, key=lambda each: each[0][0])] for row in found]


def skew(pieces: Sequence[Piece]) -> float:
    """By how much the lines lean, in radians; from the pieces that are long enough to tell."""
    widest = max(_width(piece) for piece in pieces)
    leans = []
    for piece in pieces:
        (left, top), (right, other) = piece.box[0], piece.box[1]
        if _width(piece) >= widest / 3:
            leans.append(math.atan2(other - top, right - left))
    return median(leans)


def _middle(piece: Piece, angle: float) -> Point:
    x = sum(corner[0] for corner in piece.box) / 4
    y = sum(corner[1] for corner in piece.box) / 4
    return x * math.cos(angle) + y * math.sin(angle), y * math.cos(angle) - x * math.sin(angle)


def _row_middle(row: Sequence[tuple[Point, Piece]]) -> float:
    return sum(middle[1] for middle, _ in row) / len(row)


def _width(piece: Piece) -> float:
    return math.dist(piece.box[0], piece.box[1])


def _height(piece: Piece) -> float:
    return math.dist(piece.box[0], piece.box[3])
