"""steps/README.md: its example is a kind that works, and its table has all that a body may ask."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from steps import registry
from steps.base import Done, StepContext
from tests.conformance import test_kinds as conformance
from tests.contract.sources import text
from tests.step_context import FakeContext, run_step

PAGE = text("steps/README.md")
CACHES = (registry._plugins, registry.get, registry.all_specs, registry.load_body, registry.readme, registry._schema)


@pytest.fixture
def kind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The example, written to files as the page says."""
    package = tmp_path / "code" / "word_count"
    package.mkdir(parents=True)
    for name, code in re.findall(r"^```python\n# word_count/(\w+\.py)\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL):
        (package / name).write_text(code)
    page = re.search(r"^````markdown\n(.*?)^````", PAGE, re.MULTILINE | re.DOTALL)
    assert page
    (package / "README.md").write_text(page[1])
    monkeypatch.syspath_prepend(package.parent)
    monkeypatch.setenv(registry.EXTRA_STEPS, "word_count.spec")
    _forget()
    yield "word_count"
    monkeypatch.undo()
    _forget()


def _forget() -> None:
    for cache in CACHES:
        cache.cache_clear()


class Killed(BaseException):
    pass


class Dying(FakeContext):
    def progress(self, done: float, total: float | None = None, text: str = "") -> None:
        if done == 2:
            raise Killed


def test_the_example_counts_and_goes_on_where_an_attempt_was_lost(kind: str, tmp_path: Path) -> None:
    root = tmp_path / "storage"
    root.mkdir()
    (root / "letter.txt").write_text("dear all\nhow are you\nbye\n")
    dying = Dying(storage_root=root)
    with pytest.raises(Killed):
        run_step(dying, kind, path="letter.txt")
    later = dying.next_attempt()
    assert run_step(later, kind, path="letter.txt") == Done({"lines": 3, "words": 6})
    assert later.logged == ["begins at line 3 of 3"]


def test_the_example_passes_what_every_kind_is_tested_for(kind: str) -> None:
    spec = registry.get(kind)
    for check in (
        conformance.test_a_kind_is_ready_for_the_palette,
        conformance.test_every_setting_has_a_title_and_is_explained,
        conformance.test_the_schema_is_a_json_schema_without_references,
        conformance.test_the_body_takes_its_own_settings_and_the_context,
        conformance.test_the_reference_page_tells_everything,
        conformance.test_the_reference_page_names_every_error_code_of_the_body,
        conformance.test_the_example_of_the_reference_page_is_a_node_that_can_be_saved,
    ):
        check(spec)


def test_all_that_a_body_may_ask_is_in_the_table() -> None:
    asked = set(StepContext.__annotations__) | {name for name in vars(StepContext) if not name.startswith("_")}
    assert {name for name in asked if f"`ctx.{name}" not in PAGE} == set()
