"""Properties of expressions: paths and templates agree, JSON passes through unchanged, only our errors come out."""

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from builder.expressions import ExpressionError, Limits, check_syntax, evaluate, references, resolve
from builder.expressions.filters import FILTERS, TESTS
from builder.validation.nodes import is_key

names: SearchStrategy[str] = st.text("ab_1ü", min_size=1, max_size=3).filter(str.isidentifier)
texts: SearchStrategy[str] = st.text(max_size=12)
scalars: SearchStrategy[Any] = (
    st.none() | st.booleans() | st.integers(-(2**63), 2**64) | st.floats(allow_nan=False, allow_infinity=False) | texts
)
json_values: SearchStrategy[Any] = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names | texts, inner, max_size=3),
    max_leaves=8,
)
parts: SearchStrategy[Any] = names | st.integers(0, 2)


def spelled(path: list[Any]) -> str:
    return "run" + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)


def outcome(text: str, scope: dict[str, Any]) -> Any:
    try:
        return evaluate(text, scope)
    except ExpressionError as problem:
        return (problem.code, problem.reason)


@given(json_values)
def test_any_value_passes_through_whole(value: Any) -> None:
    assert evaluate("{{ run.value }}", {"run": {"value": value}}) is value


@given(json_values)
def test_any_value_passes_through_a_template_equal(value: Any) -> None:
    found = evaluate("{{ [run.value][0] }}", {"run": {"value": value}})
    assert found == value
    assert json.dumps(found) == json.dumps(value)


@given(json_values)
def test_json_text_is_the_same_value(value: Any) -> None:
    text = evaluate("{{ run.value | json }}", {"run": {"value": value}})
    assert json.loads(text) == value


@given(json_values, st.lists(parts, max_size=3))
def test_a_plain_path_and_a_template_agree(value: Any, path: list[Any]) -> None:
    scope = {"run": value}
    plain = outcome(f"{{{{ {spelled(path)} }}}}", scope)
    template = outcome(f"{{{{ ({spelled(path)} if true else 1) }}}}", scope)
    assert plain == template
    assert type(plain) is type(template)


@given(json_values)
def test_a_config_without_expressions_is_itself(value: Any) -> None:
    config = {"value": value}
    if not any(mark in json.dumps(value) for mark in ("{{", "{%")):
        assert resolve(config, {}) is config


pieces: SearchStrategy[str] = st.sampled_from(
    [
        *(
            "{{",
            "}}",
            "{%",
            "%}",
            "(",
            ")",
            "[",
            "]",
            "|",
            "~",
            "+",
            "*",
            "**",
            "%",
            ".",
            ",",
            ":",
            "==",
            "{",
            "}",
            "-%}",
        ),
        *(
            "for",
            "in",
            "endfor",
            "if",
            "else",
            "endif",
            "set",
            "endset",
            "is",
            "not",
            "and",
            "or",
            "loop",
            "range",
            "with",
        ),
        *(
            "steps",
            "run",
            "item",
            "a",
            "x",
            "1",
            "99999",
            "'t'",
            "none",
            "join",
            "sum",
            "round",
            "map",
            "date",
            "replace",
        ),
        *("include", "macro", "self", "__class__", "attr", "default", "batch", "list", "json", "sort", "length", "\n"),
    ]
)
ROUGH = Limits(operations=5_000, seconds=1, characters=20_000, items=5_000)


@given(st.lists(pieces, max_size=14))
def test_no_text_brings_anything_but_our_errors(words: list[str]) -> None:
    text = " ".join(words)
    scope = {"run": {"a": [1, {"x": "y"}]}, "steps": {"a": {"output": 1}}, "item": "i"}
    try:
        value = evaluate(text, scope, limits=ROUGH)
    except ExpressionError:
        return
    json.dumps(value, allow_nan=False)
    assert check_syntax(text) is None
    references({"x": text})


atoms: SearchStrategy[str] = st.sampled_from(
    [
        "run.a",
        "run.t",
        "run.n",
        "run.z",
        "run.m",
        "run.m.k",
        "run.gone",
        "nobody",
        "loop",
        "self",
        "range(3)",
        "1",
        "0",
        "-1",
        "2.5",
        "'t'",
        "''",
        "'%Y'",
        "[]",
        "{}",
        "[1,2]",
        "{'a':1}",
        "true",
        "none",
        "99999",
    ]
)
operators: SearchStrategy[str] = st.sampled_from(
    ["+", "-", "*", "/", "//", "%", "**", "~", "==", "<", "in", "and", "or"]
)
filters: SearchStrategy[str] = st.sampled_from(sorted(FILTERS))
tests: SearchStrategy[str] = st.sampled_from(sorted(name for name in TESTS if name.isalpha()))
options: SearchStrategy[str] = st.sampled_from(["", "", "attribute=", "days=", "default=", "method=", "reverse="])


def larger(inner: SearchStrategy[str]) -> SearchStrategy[str]:
    arguments = st.lists(st.builds("{}{}".format, options, inner), max_size=2).map(", ".join)
    return st.one_of(
        st.builds("({} | {}({}))".format, inner, filters, arguments),
        st.builds("({} is {}({}))".format, inner, tests, inner),
        st.builds("({} is {})".format, inner, tests),
        st.builds("({} {} {})".format, inner, operators, inner),
        st.builds("{}[{}]".format, atoms, inner),
        st.builds("({} if {} else {})".format, inner, inner, inner),
        st.builds("[{}, {}]".format, inner, inner),
    )


expressions: SearchStrategy[str] = st.recursive(atoms, larger, max_leaves=8)
frames: SearchStrategy[str] = st.sampled_from(
    ["{{{{ {} }}}}", "a{{{{ {} }}}}", "{{% for x in {} %}}{{{{ x }}}}{{% endfor %}}", "{{% if {} %}}1{{% endif %}}"]
)


@given(expressions, frames)
@settings(max_examples=300)
def test_no_expression_brings_anything_but_our_errors(expression: str, frame: str) -> None:
    text = frame.format(expression)
    scope = {"run": {"a": [1, {"x": "y"}], "t": "2026-01-31", "n": 7, "z": None, "m": {"k": [{"v": 1}, {"v": "s"}]}}}
    try:
        value = evaluate(text, scope, limits=ROUGH)
    except ExpressionError as problem:
        assert len(problem.reason) < 3_000  # noqa: PT017 - either end is fine
    else:
        json.dumps(value, allow_nan=False)


@given(st.text(max_size=5) | names)
def test_every_key_can_be_named_in_an_expression(key: str) -> None:
    if is_key(key):
        text = f"{{{{ steps.{key}.output }}}}"
        assert references({"x": text}) == {key}
        assert evaluate(text, {"steps": {key: {"output": 5}}}) == 5
