"""The real engine on the sample's scans, whose contents we know because we drew them."""

import json
import shutil
import socket
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from sample.documents import make_documents
from steps.base import StepFailure
from steps.ocr import run as body
from tests.step_context import FakeContext, run_step

pytest.importorskip("rapidocr")


@pytest.fixture(scope="session")
def documents(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_documents(tmp_path_factory.mktemp("documents"))


@pytest.fixture(scope="session")
def truth(documents: Path) -> dict[str, Any]:
    found = next(documents.rglob("truth.json")) if documents.is_dir() else documents
    return {each["file"]: each for each in json.loads(found.read_text())["documents"]}


@pytest.fixture
def ctx(tmp_path: Path, documents: Path) -> FakeContext:
    folder = documents if documents.is_dir() else documents.parent
    for place in folder.rglob("invoice-*"):
        shutil.copy(place, tmp_path)
    return FakeContext(storage_root=tmp_path)


def failure_of(ctx: FakeContext, **config: Any) -> StepFailure:
    with pytest.raises(StepFailure) as failure:
        run_step(ctx, "ocr", **config)
    return failure.value


@pytest.mark.parametrize(
    "file",
    ["invoice-02.png", "invoice-04.png", "invoice-05.png", "invoice-06.pdf"],
    ids=["askew", "noisy", "pale", "PDF askew"],
)
def test_what_a_scan_says_is_read(ctx: FakeContext, truth: dict[str, Any], file: str) -> None:
    answer = run_step(ctx, "ocr", files=file, dpi=110)
    expected = truth[file]
    plain = answer["text"].replace(",", "")
    for name in ("supplier", "invoice_number", "vat_id", "po_number", "net", "vat", "total"):
        assert expected[name].replace(",", "") in plain
    for line in expected["lines"]:
        row = next(row for row in plain.splitlines() if line["description"].replace(",", "") in row)
        assert line["amount"] in row
    assert answer["confidence"] > 0.9
    assert all(len(line["box"]) == 4 for line in answer["pages"][0]["lines"])


def test_every_page_of_every_file_is_read_in_order(ctx: FakeContext) -> None:
    answer = run_step(ctx, "ocr", files=["invoice-07.pdf", "invoice-01.png"], dpi=110)
    assert [(page["file"], page["page"]) for page in answer["pages"]] == [
        ("invoice-07.pdf", 1), ("invoice-07.pdf", 2), ("invoice-01.png", 1),
    ]  # fmt: skip
    assert [text for _, _, text in ctx.progressed][-1] == "invoice-01.png, page 1"
    only = run_step(ctx, "ocr", files="invoice-07.pdf", dpi=110, first_page=2)
    assert [page["page"] for page in only["pages"]] == [2]


def test_a_page_that_an_earlier_attempt_has_read_is_not_read_again(
    ctx: FakeContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[Any] = []
    monkeypatch.setattr(body, "recognise", lambda picture: read.append(picture) or [])
    run_step(ctx, "ocr", files=["invoice-07.pdf"])
    assert len(read) == 2
    again = ctx.next_attempt()
    run_step(again, "ocr", files=["invoice-07.pdf"])
    assert len(read) == 2
    shutil.copy(ctx.storage_root / "invoice-06.pdf", ctx.storage_root / "invoice-07.pdf")
    run_step(again, "ocr", files=["invoice-07.pdf"])
    assert len(read) == 3


def test_an_empty_sheet_has_no_text(ctx: FakeContext) -> None:
    Image.new("L", (300, 300), 255).save(ctx.storage_root / "empty.png")
    answer = run_step(ctx, "ocr", files="empty.png")
    assert (answer["text"], answer["confidence"]) == ("", None)


@pytest.mark.parametrize(
    ("content", "code"), [(b"no picture", "not_readable"), (b"", "not_readable"), (b"%PDF-1.7 broken", "not_readable"),
                          (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "not_readable")]
)  # fmt: skip
def test_what_is_no_picture_fails_for_good(ctx: FakeContext, content: bytes, code: str) -> None:
    (ctx.storage_root / "x.png").write_bytes(content)
    failure = failure_of(ctx, files="x.png")
    assert (failure.code, failure.retryable) == (code, False)
    assert "x.png" in failure.message


def test_a_picture_of_monstrous_size_is_refused_before_it_is_unpacked(ctx: FakeContext) -> None:
    Image.new("1", (20_001, 10)).save(ctx.storage_root / "long.png")
    assert failure_of(ctx, files="long.png").code == "picture_too_large"


def test_too_many_pages_and_missing_files_are_told(ctx: FakeContext, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(body, "recognise", lambda picture: [])
    assert failure_of(ctx, files="invoice-07.pdf", page_limit=1).code == "too_many_pages"
    assert failure_of(ctx, files="gone.png").code == "file_not_found"


def test_nothing_is_fetched_to_read_a_page(ctx: FakeContext, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("the engine wanted the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    body.engine.cache_clear()
    assert "Nordlicht" in run_step(ctx, "ocr", files="invoice-01.png")["text"]
