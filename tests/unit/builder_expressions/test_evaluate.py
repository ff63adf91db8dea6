"""What expressions give, and how they name what is missing."""

from typing import Any

import pytest

from builder.expressions import ExpressionUndefined, Limits, evaluate, resolve
from builder.expressions.budget import Spending, current
from tests.unit.builder_expressions.examples import SCOPE, fails

# ------------------------------------------------------------------ types


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{{ run.input.text }}", "123"),
        ("{{ run.input.text | trim }}", "123"),
        ("{{ '123' }}", "123"),
        ("{{ 'None' }}", "None"),
        ("{{ '[1, 2]' }}", "[1, 2]"),
        ("{{ 5 }}", 5),
        ("{{ 5.0 }}", 5.0),
        ("{{ true }}", True),
        ("{{ none }}", None),
        ("{{ [1, 'a', none] }}", [1, "a", None]),
        ("{{ {'a': (1, 2)} }}", {"a": [1, 2]}),
        ("{{ run.input.number }}", 5),
        ("{{ run.input.number + 1 }}", 6),
        ("{{ run.input.flag }}", True),
        ("{{ 1.5 * 2 }}", 3.0),
        ("{{ 2 * 'ab' ~ 'c' * -1 }}", "abab"),
        ("{{ [0] * 2 }}", [0, 0]),
        ("{{ 2 ** 10 }}", 1024),
        ("{{ 2 ** -1 }}", 0.5),
        ("{{ 7 % 4 }}", 3),
        ("{{ 'a' + 'b' }}", "ab"),
        ("{{ [1] + [2] }}", [1, 2]),
        ("{{ steps.fetch.output.nothing }}", None),
        ("{{ run.input }}", SCOPE["run"]["input"]),
        ("{{ item.name }}/{{ index }}", "first/0"),
        ("  {{ index }}\n", 0),
        ("{{ result is defined }}", False),
        ("{{ 'a' ~ 1 ~ none ~ true ~ [1] }}", "a1nulltrue[1]"),
    ],
)
def test_one_whole_expression_keeps_its_type(text: str, value: Any) -> None:
    found = evaluate(text, SCOPE)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("n={{ run.input.number }}", "n=5"),
        ("{{ 1 }}{{ 2 }}", "12"),
        ("is {{ true }}, {{ none }}, {{ 1.5 }}", "is true, null, 1.5"),
        ('{"lines": {{ run.input.lines }}}', '{"lines": [{"n":1},{"n":2}]}'),
        ("{% if run.input.flag %}yes{% else %}no{% endif %}", "yes"),
        ("{% for l in run.input.lines %}{{ loop.index }}/{{ loop.length }}:{{ l.n }} {% endfor %}", "1/2:1 2/2:2 "),
        ("{% for l in run.input.lines if l.n > 1 %}{{ l.n }}{% else %}none{% endfor %}", "2"),
        ("{% set x = 4 %}{{ x * 2 }}", "8"),
        ("{% set x %}a{{ 1 }}{% endset %}{{ x }}{{ x }}", "a1a1"),
        ("{% with y = 1 %}{{ y }}{% endwith %}\n", "1\n"),
        ("{% raw %}{{ kept }}{% endraw %}", "{{ kept }}"),
        ("body {#id} {{ '{{' }}", "body {#id} {{"),
        ("{# no comment #}{{ 1 }}", "{# no comment #}1"),
        ("no expression: {% 5", None),
    ],
)
def test_any_other_text_stays_a_text(text: str, value: str | None) -> None:
    if value is None:
        assert fails(text).code == "expression_syntax"
    else:
        assert evaluate(text, SCOPE) == value


@pytest.mark.parametrize("text", ["", "plain", "a { b } c", "{ {x} }", "100 %}", "}}", "{#"])
def test_a_text_without_expression_is_left_alone(text: str) -> None:
    assert evaluate(text, SCOPE) is text


def test_a_set_name_in_a_loop_does_not_shadow_the_scope_outside() -> None:
    assert evaluate("{% for item in [1] %}{{ item }}{% endfor %}{{ item.name }}", SCOPE) == "1first"


# ------------------------------------------------------------------ look-ups


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("steps.fetch.output.items", ["field, not method"]),
        ("(steps.fetch.output).items[0]", "field, not method"),
        ("steps.fetch.output.keys + 1", 2),
        ("steps['fetch']['output']['my-key']['a b']", 1),
        ("steps.fetch.output.größe", 9),
        ("steps.fetch.output.rows[0].k", "x"),
        ("steps.fetch.output.rows.0.k", "x"),
        ("steps.fetch.output.rows[-1].v", 3),
        ("steps.fetch.output.rows[1:] | length", 2),
        ("run.input.text[0]", "1"),
        ("run.input.text[1:]", "23"),
        ("steps.fetch.output[run.input.text | replace('123', 'total')]", 3),
    ],
)
def test_keys_of_objects_and_places_of_lists_are_looked_up(path: str, value: Any) -> None:
    assert evaluate(f"{{{{ {path} }}}}", SCOPE) == value


@pytest.mark.parametrize(
    ("text", "message", "available"),
    [
        (
            "{{ steps.fetch.output.totl }}",
            (
                'steps.fetch.output has no "totl"; it has: total, items, keys, nothing, my-key, größe, json, rows. '
                'Did you mean "total"?'
            ),
            ("total", "items", "keys", "nothing", "my-key", "größe", "json", "rows"),
        ),
        (
            "{{ run.inptu.x }}",
            'run has no "inptu"; it has: input, id, number. Did you mean "input"?',
            ("input", "id", "number"),
        ),
        (
            "{{ (run.inptu).x + 1 }}",
            'run has no "inptu"; it has: input, id, number. Did you mean "input"?',
            ("input", "id", "number"),
        ),
        (
            "{{ stebs.x }}",
            'there is no "stebs" here; known are: index, item, run, steps. Did you mean "steps"?',
            ("index", "item", "run", "steps"),
        ),
        (
            "{{ zzz ~ 1 }}",
            'there is no "zzz" here; known are: index, item, run, steps',
            ("index", "item", "run", "steps"),
        ),
        ("{{ steps.fetch.output['my-key'].zz }}", 'steps.fetch.output["my-key"] has no "zz"; it has: a b', ("a b",)),
        ("{{ steps.fetch.output.rows[3] }}", "steps.fetch.output.rows has 3 entries, and no [3]; the first is [0]", ()),
        (
            "{{ steps.fetch.output.rows.k }}",
            'steps.fetch.output.rows is a list of 3 and has no "k"; name an entry ([0]) or use a filter such as map',
            (),
        ),
        ("{{ steps.fetch.output.nothing.x }}", 'steps.fetch.output.nothing is null and has no "x"', ()),
        ("{{ steps.fetch.output.nothing.x ~ '' }}", 'steps.fetch.output.nothing is null and has no "x"', ()),
        (
            "{{ run.input.text.upper }}",
            'run.input.text is a text and has no "upper"; use a filter, such as upper, length or from_json',
            (),
        ),
        ("{{ run.input.number.real }}", 'run.input.number is a number and has no "real"', ()),
        ("{{ run.input.flag[0] }}", "run.input.flag is true or false and has no [0]", ()),
        ("{{ range.__globals__ }}", 'the value is a part of the language and has no "__globals__"', ()),
        ("{{ {}['a'] }}", 'the value has no "a"; it is empty', ()),
        (
            "{{ ('a' ~ 'b').c }}",
            'the value is a text and has no "c"; use a filter, such as upper, length or from_json',
            (),
        ),
        ("{{ run.input.lines | map(attribute='m') | list }}", 'run.input.lines[0] has no "m"; it has: n', ("n",)),
        ("{% for l in run.input.lines %}{{ l.m }}{% endfor %}", 'run.input.lines[0] has no "m"; it has: n', ("n",)),
        (
            "{{ [run.input.zz] }}",
            'run.input has no "zz"; it has: text, number, flag, lines',
            ("text", "number", "flag", "lines"),
        ),
        ("{{ 0.k or 1 }}", 'the value is a number and has no "k"', ()),
        ("{% if [1][none.a] %}{% endif %}", 'the value is null and has no "a"', ()),
        ("{{ [] | first }}", "No first item, sequence was empty.", ()),
        ("{{ 'a' + run.zz }}", 'run has no "zz"; it has: input, id, number', ("input", "id", "number")),
        ("{{ run.zz % 2 }}", 'run has no "zz"; it has: input, id, number', ("input", "id", "number")),
        ("x{{ run.zz }}", 'run has no "zz"; it has: input, id, number', ("input", "id", "number")),
        ("{% if run.zz %}{% endif %}", 'run has no "zz"; it has: input, id, number', ("input", "id", "number")),
        ("{% for l in [1] %}{{ loop.nextitem }}{% endfor %}", "there is no next item", ()),
        (
            "{% for l in [1] %}{{ loop.cycle }}{% endfor %}",
            'the value is a part of the language and has no "cycle"',
            (),
        ),
    ],
)
def test_what_is_missing_is_named_with_what_was_there(text: str, message: str, available: tuple[str, ...]) -> None:
    problem = fails(text)
    assert isinstance(problem, ExpressionUndefined)
    assert problem.reason == message
    assert problem.available == available
    assert problem.data["available"] == list(available)


def test_only_the_first_names_are_listed() -> None:
    with pytest.raises(ExpressionUndefined) as caught:
        evaluate("{{ run.zz }}", {"run": {f"key{i}": i for i in range(50)}})
    assert caught.value.reason.endswith("key19 and 30 more")
    assert len(caught.value.available) == 20


def test_the_place_of_a_value_is_searched_within_bounds() -> None:
    deep = {"run": {"many": [[{} for _ in range(300)] for _ in range(300)], "last": {"x": {}}}}
    with pytest.raises(ExpressionUndefined) as caught:
        evaluate("{% for l in run.many %}{{ l[299].zz }}{% endfor %}", deep)
    assert caught.value.reason == 'run.many[0][299] has no "zz"; it is empty'
    with pytest.raises(ExpressionUndefined) as caught:
        evaluate("{% for l in run.many[299:] %}{{ l[299].zz }}{% endfor %}", deep)
    assert caught.value.reason == 'the value has no "zz"; it is empty'


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{{ steps.gone | default('x') }}", "x"),
        ("{{ steps.gone.output.a[0].b | default(0) }}", 0),
        ("{{ nobody.knows | d(none) }}", None),
        ("{{ steps.fetch.output.nothing | default(1) }}", None),
        ("{{ steps.fetch.output.nothing or 1 }}", 1),
        ("{{ '' | default('x', true) }}", "x"),
        ("{{ steps.gone.output is defined }}", False),
        ("{{ steps.fetch.output.nothing is none }}", True),
        ("{{ 'total' in steps.fetch.output }}", True),
    ],
)
def test_missing_and_null_are_told_apart(text: str, value: Any) -> None:
    assert evaluate(text, SCOPE) == value


# ------------------------------------------------------------------ configs


def test_a_config_is_resolved_at_any_depth() -> None:
    config = {
        "url": "https://a/{{ run.id }}",
        "n": 5,
        "list": [1, "{{ run.number }}", {"deep": ["{{ item }}"]}],
        "none": None,
    }
    assert resolve(config, SCOPE) == {
        "url": "https://a/r1",
        "n": 5,
        "list": [1, 7, {"deep": [{"name": "first"}]}],
        "none": None,
    }
    assert config["list"][1] == "{{ run.number }}"  # type: ignore[index]


def test_what_holds_no_expression_is_not_copied() -> None:
    inner = {"a": ["x", {"b": "{ y }"}]}
    config = {"inner": inner, "text": "{{ 1 }}"}
    assert resolve(inner, SCOPE) is inner
    assert resolve(config, SCOPE)["inner"] is inner


@pytest.mark.parametrize(
    ("fields", "kept"),
    [
        ({"code"}, "code"),
        ({"cases[].label", "code"}, "cases[0].label code"),
        ({"cases"}, "cases[0].label cases[0].value cases[1]"),
        ({"cases[]"}, "cases[0].label cases[0].value cases[1]"),
        ({"files.*"}, "files.a files.b"),
        ({"files", "files.a"}, "files.a files.b"),
        ({"files.a.deep"}, ""),
        ({"gone"}, ""),
        ((), ""),
    ],
)
def test_literal_fields_are_taken_as_they_stand(fields: Any, kept: str) -> None:
    text = "{{ 1 }}"
    config = {"code": text, "cases": [{"label": text, "value": text}, text], "files": {"a": text, "b": text}}
    found = resolve(config, SCOPE, literal_fields=fields)
    places = {
        "code": found["code"],
        "cases[0].label": found["cases"][0]["label"],
        "cases[0].value": found["cases"][0]["value"],
        "cases[1]": found["cases"][1],
        "files.a": found["files"]["a"],
        "files.b": found["files"]["b"],
    }
    assert " ".join(place for place, value in places.items() if value == text).split() == sorted(kept.split())[:0] + [
        place for place in places if place in kept.split()
    ]


@pytest.mark.parametrize(
    ("config", "field"),
    [
        ({"a": "{{ x }}"}, "a"),
        ({"a": {"b": "{{ x }}"}}, "a.b"),
        ({"a": ["", {"b": [["{{ x }}"]]}]}, "a[1].b[0][0]"),
    ],
)
def test_an_error_names_its_field(config: dict[str, Any], field: str) -> None:
    with pytest.raises(ExpressionUndefined) as caught:
        resolve(config, SCOPE)
    assert caught.value.field == field
    assert caught.value.message.startswith(f'{field}: there is no "x" here')
    assert caught.value.data == {"field": field, "available": ["index", "item", "run", "steps"]}
    assert caught.value.status == 422


def test_evaluations_may_be_nested() -> None:
    """A budget belongs to its evaluation: an inner one gives it back."""
    with Spending(Limits(operations=7)) as outer:
        assert evaluate("{{ range(100) | sum }}", {}) == 4950
        assert current() is outer
        assert outer.left == 7
