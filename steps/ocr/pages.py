"""Images and PDF pages as pictures to read from."""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pypdfium2
from PIL import Image, ImageOps, UnidentifiedImageError

from steps.base import StepFailure

MOST_PIXELS = 100_000_000
LONGEST_SIDE = 20_000


@dataclass(frozen=True)
class Page:
    file: str
    number: int  # from 1
    picture: Image.Image


def pages_of(place: Path, *, file: str, dpi: int, first_page: int) -> Iterator[Page]:
    """Raises StepFailure('not_readable' | 'picture_too_large')."""
    with place.open("rb") as opened:
        is_pdf = b"%PDF-" in opened.read(1024)
    return _pdf(place, file=file, dpi=dpi, first_page=first_page) if is_pdf else _image(place, file=file)


def _pdf(place: Path, *, file: str, dpi: int, first_page: int) -> Iterator[Page]:
    try:
        document = pypdfium2.PdfDocument(place)
    except pypdfium2.PdfiumError as problem:
        raise StepFailure("not_readable", f"'{file}' is not a PDF that can be opened: {problem}") from problem
    try:
        for index in range(first_page - 1, len(document)):
            page = document[index]
            width, height = (side * dpi / 72 for side in page.get_size())
            _check_size(width, height, file)
            bitmap = page.render(scale=dpi / 72)
            picture = bitmap.to_pil().convert("RGB")
            bitmap.close()
            page.close()
            yield Page(file, index + 1, picture)
    finally:
        document.close()


def _image(place: Path, *, file: str) -> Iterator[Page]:
    try:
        with warnings.catch_warnings(), Image.open(place) as picture:
            warnings.simplefilter(
                "ignore", Image.DecompressionBombWarning
            )  # the size is checked below, before decoding
            for number in range(getattr(picture, "n_frames", 1)):
                picture.seek(number)
                _check_size(*picture.size, file)
                yield Page(file, number + 1, ImageOps.exif_transpose(picture).convert("RGB"))
    except (UnidentifiedImageError, Image.DecompressionBombError, OSError, SyntaxError, ValueError) as problem:
        raise StepFailure("not_readable", f"'{file}' is not an image or PDF that can be read: {problem}") from problem


def _check_size(width: float, height: float, file: str) -> None:
    if width * height > MOST_PIXELS or max(width, height) > LONGEST_SIDE:
        raise StepFailure(
            "picture_too_large", f"A page of '{file}' has {width:.0f} x {height:.0f} pixels. Choose a lower resolution."
        )
