import logging
from functools import cache, partial
from statistics import fmean
from typing import Any

from steps import storage
from steps.base import StepContext, StepFailure
from steps.ocr.layout import Piece, Point, rows
from steps.ocr.pages import Page, pages_of
from steps.ocr.spec import OcrConfig


def run(config: OcrConfig, ctx: StepContext) -> dict[str, Any]:
    """A page that an earlier attempt has read is not read again: each is kept as soon as it is done."""
    places = [(file, storage.existing_file(ctx.storage_root, file)) for file in config.files]
    found: list[dict[str, Any]] = []
    for number, (file, place) in enumerate(places, 1):
        for page in pages_of(place, file=file, dpi=config.dpi, first_page=config.first_page):
            if len(found) == config.page_limit:
                raise StepFailure(
                    "too_many_pages", f"The files have more than {config.page_limit} pages. Raise the limit."
                )
            found.append(ctx.once(_key(page, config, digest=storage.digest(place)), partial(_read, page, config)))
            ctx.progress(number, len(places), f"{file}, page {page.number}")
    confidences = [line["confidence"] for page in found for line in page["lines"]]
    return {
        "text": "\n\n".join(page["text"] for page in found),
        "confidence": round(fmean(confidences), 4) if confidences else None,
        "pages": found,
    }


def _key(page: Page, config: OcrConfig, *, digest: str) -> str:
    """What the result depends on: another file under the same name is another page."""
    return f"page:{digest[:16]}:{page.number}:{config.dpi}:{config.min_confidence}"


def _read(page: Page, config: OcrConfig) -> dict[str, Any]:
    pieces = [piece for piece in recognise(page.picture) if piece.confidence >= config.min_confidence]
    lines = rows(pieces)
    return {
        "file": page.file,
        "page": page.number,
        "text": "\n".join("  ".join(piece.text for piece in line) for line in lines),
        "lines": [
            {
                "text": piece.text,
                "confidence": round(piece.confidence, 4),
                "box": [[round(x), round(y)] for x, y in piece.box],
            }
            for line in lines
            for piece in line
        ],
    }


@cache
def engine() -> Any:
    """The models take a second to load, so the warm child keeps them. They come with the package; none is fetched."""
    try:
        from rapidocr import RapidOCR
    except ImportError as problem:
        raise StepFailure("ocr_missing", "The OCR engine is not installed. Install requirements/ocr.txt.") from problem
    logging.getLogger("RapidOCR").setLevel(logging.ERROR)
    return RapidOCR(params={"Global.log_level": "error", "EngineConfig.onnxruntime.intra_op_num_threads": 1})


def recognise(picture: Any) -> list[Piece]:
    import numpy as np

    pixels = np.asarray(picture)[:, :, ::-1]  # the engine wants blue first
    answer = engine()(pixels)
    if answer.boxes is None or answer.txts is None or answer.scores is None:
        return []
    return [
        Piece(text, float(score), _corners(box))
        for text, score, box in zip(answer.txts, answer.scores, answer.boxes, strict=True)
    ]


def _corners(box: Any) -> tuple[Point, Point, Point, Point]:
    first, second, third, fourth = ((float(x), float(y)) for x, y in box)
    return first, second, third, fourth
