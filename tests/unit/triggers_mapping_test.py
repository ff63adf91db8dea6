import pytest

from kit.errors import AppError
from runs.triggers.mapping import DEFAULT, NAMES, BadMapping, check_mapping, mapped, wants

RUN = {
    "id": "r",
    "number": 7,
    "status": "succeeded",
    "workflow": "w",
    "input": {"a": [1]},
    "output": None,
    "error": None,
}


def test_the_default_says_which_run_ended_and_what_it_answered() -> None:
    check_mapping(DEFAULT)
    assert mapped(dict(DEFAULT), RUN) == {
        "run": {"id": "r", "number": 7, "status": "succeeded", "workflow": "w"}, "output": None, "error": None,
    }  # fmt: skip


def test_what_is_no_path_stays_as_it_is() -> None:
    template = {"a": 1, "b": [None, True, "text", "{{ run.input.a[0] }}"], "c": {}}
    check_mapping(template)
    assert mapped(template, RUN) == {"a": 1, "b": [None, True, "text", 1], "c": {}}


@pytest.mark.parametrize("name", NAMES)
def test_every_name_may_be_taken(name: str) -> None:
    check_mapping([f"{{{{ run.{name} }}}}"])
    assert wants({"x": f"{{{{ run.{name} }}}}"}, name)
    assert not wants({"x": f"{{{{ run.{name} }}}}"}, "another")


def test_only_whole_plain_paths_into_the_run_are_taken() -> None:
    for text in ("{{ run.input | length }}", "{{ run }}", "{{ item.a }}", "a {{ run.id }}", "{{ }}", "{{ run.no }}"):
        with pytest.raises(BadMapping):
            check_mapping({"x": text})
        assert not wants(text, "input")


def test_a_path_that_leads_nowhere_says_so() -> None:
    with pytest.raises(AppError, match="b"):
        mapped("{{ run.input.b }}", RUN)
