"""Each step kind is a folder that has all of its parts: copy the nearest."""

import pytest

from steps import registry
from tests.contract import sources

KINDS = [name.split("/")[1] for name in sources.all_files() if name.startswith("steps/") and name.endswith("/spec.py")]


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_has_spec_body_readme_and_tests(kind: str) -> None:
    spec = registry.get(kind)
    parts = {"README.md"} | ({"run.py"} if spec.body else set())
    missing = [part for part in sorted(parts) if f"steps/{kind}/{part}" not in sources.all_files()]
    assert not missing, f"steps/{kind}/ lacks {missing}"
    tests = [name for name in sources.all_files() if name.startswith("tests/") and f'"{kind}"' in sources.text(name)]
    assert any(sources.is_test(name) and "step" in name for name in tests), f"no test of the library names {kind!r}"
    assert spec.kind == kind


def test_every_folder_is_registered_and_every_registered_kind_has_a_folder() -> None:
    assert sorted(registry.BUILTIN) == sorted(KINDS)
