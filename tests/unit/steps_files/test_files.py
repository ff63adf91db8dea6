import base64
import hashlib
import io
import zipfile
from pathlib import Path
from typing import Any

import pytest

from steps import storage
from steps.base import StepFailure
from tests.step_context import FakeContext, run_step

ODD_VALUES = {"n": 2**63, "": [None, True, 0.5], "\u2028": "\0"}


@pytest.fixture
def ctx(tmp_path: Path) -> FakeContext:
    root = tmp_path / "storage"
    root.mkdir()
    return FakeContext(storage_root=root)


@pytest.mark.parametrize("path", ["../secret", "a/../../secret", "/etc/passwd", "a\\b", "x\0y", ".", "a/.."])
def test_no_path_leads_out_of_the_storage(ctx: FakeContext, path: str) -> None:
    with pytest.raises((StepFailure, ValueError)):
        run_step(ctx, "write_file", path=path, content="x")
    with pytest.raises(StepFailure) as failure:
        storage.read(ctx.storage_root, path, limit_bytes=10)
    assert failure.value.code in {"path_refused", "file_not_found"}
    assert sorted(each.name for each in ctx.storage_root.parent.iterdir()) == ["storage"]


@pytest.mark.parametrize("path", ["a" * 300, "a/" + "é" * 200 + "/b"])
def test_a_name_that_no_file_can_have_is_refused_without_a_word_of_where_the_storage_is(
    ctx: FakeContext, path: str
) -> None:
    for act in (
        lambda: run_step(ctx, "read_file", path=path),
        lambda: run_step(ctx, "write_file", path=path, content="x"),
        lambda: run_step(ctx, "archive", path="a.zip", files=[path]),
        lambda: run_step(ctx, "archive", path=path, entries={"x": "x"}),
    ):
        with pytest.raises(StepFailure) as failure:
            act()
        assert failure.value.code == "path_refused"
        assert str(ctx.storage_root) not in failure.value.message


def test_a_link_that_leads_out_of_the_storage_is_refused(ctx: FakeContext, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("s3cret")
    (ctx.storage_root / "link").symlink_to(tmp_path)
    for act in (
        lambda: run_step(ctx, "read_file", path="link/secret"),
        lambda: run_step(ctx, "write_file", path="link/new", content="x"),
        lambda: run_step(ctx, "archive", path="a.zip", files=["link/secret"]),
    ):
        with pytest.raises(StepFailure) as failure:
            act()
        assert failure.value.code == "path_refused"
    assert not (tmp_path / "new").exists()


def test_a_folder_is_packed_without_the_links_in_it(ctx: FakeContext, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("s3cret")
    (ctx.storage_root / "docs").mkdir()
    (ctx.storage_root / "docs" / "link").symlink_to(tmp_path / "secret")
    (ctx.storage_root / "docs" / "a.txt").write_text("a")
    assert run_step(ctx, "archive", path="a.zip", files=["docs"])["entries"] == ["docs/a.txt"]


@pytest.mark.parametrize(
    ("path", "write_as", "content", "read"),
    [
        ("a.txt", "text", "größe\n", "größe\n"),
        ("a.json", "json", ODD_VALUES, ODD_VALUES),
        ("b.json", "auto", [1], [1]),
        ("s.json", "json", "\ud800", "\ud800"),
        ("a.csv", "csv", [{"a": 1, "b": "x,\"y\"\nz"}, {"b": None, "c": True}],
         [{"a": "1", "b": "x,\"y\"\nz", "c": ""}, {"a": "", "b": "", "c": "true"}]),
        ("l.csv", "csv", [["a", "b"], [1, 2.5]], [{"a": "1", "b": "2.5"}]),
        ("a.bin", "base64", base64.b64encode(b"\x00\xff").decode(), base64.b64encode(b"\x00\xff").decode()),
    ],
)  # fmt: skip
def test_what_is_written_reads_back(ctx: FakeContext, path: str, write_as: str, content: Any, read: Any) -> None:
    told = run_step(ctx, "write_file", path=f"deep/{path}", content=content, write_as=write_as)
    found = run_step(ctx, "read_file", path=f"deep/{path}")
    assert found["content"] == read
    assert (
        told["sha256"] == found["sha256"] == hashlib.sha256((ctx.storage_root / "deep" / path).read_bytes()).hexdigest()
    )
    assert told["size"] == found["size"]


@pytest.mark.parametrize(
    ("write_as", "content"),
    [("text", 5), ("base64", "%%%"), ("csv", "a,b"), ("csv", [1]), ("text", "\ud800"), ("json", {"x": float("nan")})],
)
def test_content_of_another_kind_is_refused_and_leaves_no_file(ctx: FakeContext, write_as: str, content: Any) -> None:
    with pytest.raises(StepFailure) as failure:
        run_step(ctx, "write_file", path="x/a", content=content, write_as=write_as)
    assert failure.value.code == "bad_content"
    assert not list(ctx.storage_root.rglob("*.*"))


def test_a_write_that_breaks_off_leaves_the_old_file_and_nothing_else(ctx: FakeContext) -> None:
    run_step(ctx, "write_file", path="a.txt", content="old")

    def break_off() -> None:
        with storage.writing(ctx.storage_root, "a.txt") as file:
            file.write(b"half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        break_off()
    assert [each.name for each in ctx.storage_root.iterdir()] == ["a.txt"]
    assert (ctx.storage_root / "a.txt").read_text() == "old"


def test_a_file_that_must_be_new_takes_its_own_repeat_and_refuses_another(ctx: FakeContext) -> None:
    config = {"path": "a.txt", "content": "mine", "if_exists": "fail"}
    first = run_step(ctx, "write_file", **config)
    assert run_step(ctx.next_attempt(), "write_file", **config) == first
    with pytest.raises(StepFailure) as failure:
        run_step(ctx, "write_file", **{**config, "content": "other"})
    assert failure.value.code == "file_exists"
    assert (ctx.storage_root / "a.txt").read_text() == "mine"


def test_a_file_cannot_be_written_over_a_folder_or_below_a_file(ctx: FakeContext) -> None:
    run_step(ctx, "write_file", path="folder/a", content="x")
    for path, code in (("folder", "not_a_file"), ("folder/a/b", "not_a_folder")):
        with pytest.raises(StepFailure) as failure:
            run_step(ctx, "write_file", path=path, content="x")
        assert failure.value.code == code


@pytest.mark.parametrize(
    ("name", "content", "read_as", "code"),
    [
        ("a.json", b"{", "auto", "bad_json"), ("a.txt", b"\xff\xfe", "text", "not_text"),
        ("a.csv", b"a,b\n1\n", "auto", "bad_csv"), ("a.csv", b'a,b\n"1', "auto", "bad_csv"),
    ],
)  # fmt: skip
def test_a_file_that_is_not_what_it_should_be_says_so(
    ctx: FakeContext, name: str, content: bytes, read_as: str, code: str
) -> None:
    (ctx.storage_root / name).write_bytes(content)
    with pytest.raises(StepFailure) as failure:
        run_step(ctx, "read_file", path=name, read_as=read_as)
    assert failure.value.code == code


def test_an_unknown_ending_is_read_as_text_or_as_base64(ctx: FakeContext) -> None:
    (ctx.storage_root / "a.dat").write_bytes(b"plain")
    (ctx.storage_root / "b.dat").write_bytes(b"\x00\xff")
    assert run_step(ctx, "read_file", path="a.dat")["content"] == "plain"
    assert run_step(ctx, "read_file", path="b.dat")["content"] == "AP8="


def test_a_file_above_the_limit_is_refused(ctx: FakeContext) -> None:
    (ctx.storage_root / "a").write_bytes(b"x" * 2048)
    with pytest.raises(StepFailure) as failure:
        run_step(ctx, "read_file", path="a", size_limit_mb=0.001)
    assert failure.value.code == "file_too_large"


def test_the_same_content_makes_the_same_archive(ctx: FakeContext) -> None:
    (ctx.storage_root / "docs").mkdir()
    (ctx.storage_root / "docs" / "b.txt").write_text("b" * 10_000)
    entries = {"note.txt": "hello", "data.json": {"a": 1}}
    first = run_step(ctx, "archive", path="one.zip", files=["docs"], entries=entries)
    (ctx.storage_root / "docs" / "b.txt").touch()
    second = run_step(ctx, "archive", path="two.zip", files="docs", entries=dict(reversed(entries.items())))
    assert first["sha256"] == second["sha256"]
    assert first["entries"] == ["data.json", "docs/b.txt", "note.txt"]
    with zipfile.ZipFile(io.BytesIO((ctx.storage_root / "one.zip").read_bytes())) as archive:
        assert archive.testzip() is None
        assert archive.read("docs/b.txt") == b"b" * 10_000
        assert archive.read("data.json") == b'{\n  "a": 1\n}\n'


def test_an_archive_in_the_folder_that_it_packs_does_not_pack_itself(ctx: FakeContext) -> None:
    run_step(ctx, "write_file", path="docs/a.txt", content="a")
    (ctx.storage_root / "docs" / ".pawl-x.part").write_text("of an attempt that was killed")
    for _ in range(2):
        assert run_step(ctx, "archive", path="docs/all.zip", files=["docs"])["entries"] == ["docs/a.txt"]


@pytest.mark.parametrize(
    ("config", "code"),
    [
        ({"files": ["missing"]}, "file_not_found"), ({"files": ["a.txt"], "entries": {"a.txt": "x"}}, "entry_twice"),
        ({"entries": {"big": "x" * 4096}, "size_limit_mb": 0.001}, "archive_too_large"),
    ],
)  # fmt: skip
def test_an_archive_that_cannot_be_made_says_why(ctx: FakeContext, config: dict[str, Any], code: str) -> None:
    (ctx.storage_root / "a.txt").write_text("a")
    with pytest.raises(StepFailure) as failure:
        run_step(ctx, "archive", path="a.zip", **config)
    assert failure.value.code == code
    assert not (ctx.storage_root / "a.zip").exists()
