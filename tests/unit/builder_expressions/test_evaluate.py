"""What expressions give, and how they fail."""

from importlib import import_module
from typing import Any

import pytest

from builder.expressions import (
    ExpressionError,
    ExpressionLimitExceeded,
    ExpressionSyntaxError,
    ExpressionUndefined,
    Limits,
    evaluate,
    resolve,
)

SCOPE: dict[str, Any] = {
    "run": {
        "input": {"text": "123", "number": 5, "flag": True, "lines": [{"n": 1}, {"n": 2}]},
        "id": "r1",
        "number": 7,
    },
    "steps": {
        "fetch": {
            "output": {
                "total": 3,
                "items": ["field, not method"],
                "keys": 1,
                "nothing": None,
                "my-key": {"a b": 1},
                "größe": 9,
                "json": '{"a": [1]}',
                "rows": [{"k": "x", "v": 1.5}, {"k": "y", "v": 2}, {"k": "x", "v": 3}],
            }
        }
    },
    "item": {"name": "first"},
    "index": 0,
}


def fails(text: str, *, limits: Limits | None = None) -> ExpressionError:
    with pytest.raises(ExpressionError) as caught:
        evaluate(text, SCOPE, **({} if limits is None else {"limits": limits}))
    return caught.value


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


# ------------------------------------------------------------------ what cannot be said


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{{ }}", "cannot be read"),
        ("{{ a b }}", "cannot be read"),
        ("{% if %}", "cannot be read"),
        ("{% include 'x' %}", "no include"),
        ("{% import 'x' as y %}", "no import"),
        ("{% extends 'x' %}", "no extends"),
        ("{% block x %}{% endblock %}", "no block"),
        ("{% macro m() %}{{ m() }}{% endmacro %}", "no macro"),
        ("{% filter upper %}x{% endfilter %}", "no filterblock"),
        ("{% set x.y = 1 %}", "no nsref"),
        ("{% for x in [1] recursive %}{% endfor %}", "recursive"),
        ("{{ ''.join([]) }}", "the only function is range"),
        ("{{ run.input.text.format() }}", "values have no methods"),
        ("{{ range(1)() }}", "the only function is range"),
        ("{{ namespace() }}", "the only function is range"),
        ("{{ range(*[1]) }}", "with * and **"),
        ("{{ 1 | default(**{}) }}", "with * and **"),
        ("{{ 1 | uper }}", "no filter 'uper'. Did you mean \"upper\"?"),
        ("{{ 1 | attr('x') }}", "no filter 'attr'"),
        ("{{ 1 | format }}", "no filter 'format'"),
        ("{{ 1 is callable }}", "no test 'callable'"),
        ("{{ 1 | counted }}", "no filter 'counted'"),
        ("{{ 1 if true }}", "needs an else"),
        ("{% set steps = 1 %}", "steps is Pawl's own"),
        ("{% for run in [1] %}{% endfor %}", "run is Pawl's own"),
        ("{% for loop in [1] %}{% endfor %}", "cannot be read"),
        ("{{ " + "(" * 300 + "1" + ")" * 300 + " }}", "nested too deeply"),
        ("{{ " + "-" * 3000 + "1 }}", "nested too deeply"),
        ("{{ 1" + "+1" * 3000 + " }}", "nested too deeply"),
        ("{% for x in [1] %}" * 30 + "{% endfor %}" * 30, "nested too deeply"),
        ("{{ 1 }}" + "x" * 100_000, "at most 100000 characters"),
    ],
)
def test_what_expressions_do_not_have_is_refused(text: str, words: str) -> None:
    problem = fails(text)
    assert isinstance(problem, ExpressionSyntaxError)
    assert words in problem.message


@pytest.mark.parametrize(
    "text",
    [
        "{{ ''['__class__'] }}",
        "{{ [].__class__.__base__ }}",
        "{{ run.__class__ }}",
        "{{ steps['__init__'] }}",
        "{{ run | map(attribute='__class__') | list }}",
        "{{ [run] | map(attribute='__class__.__mro__') | list }}",
        "{{ range['__globals__'] }}",
        "{{ range.__closure__ }}",
        "{% for x in [1] %}{{ loop._iterable }}{% endfor %}",
        "{% for x in [1] %}{{ loop.__init__.__globals__ }}{% endfor %}",
        "{{ [run] | sum(attribute='__doc__') }}",
        "{{ [1] | groupby('__class__') }}",
        "{{ self }}",
        "{{ self._TemplateReference__context }}",
        "{{ ['a'] | map('attr', '__class__') | list }}",
        "{{ ['a'] | select('callable') | list }}",
    ],
)
def test_no_python_attribute_can_be_reached(text: str) -> None:
    assert fails(text).code in {"expression_undefined", "expression_failed"}


DEEP = "{% set x = [1] %}{% set y = [1] %}" + "{% set x = [x] %}{% set y = [y] %}" * 1100


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{{ 1 / 0 }}", "division by zero"),
        ("{{ 'a' + 1 }}", "join texts and other values with ~"),
        ("{{ {} + {} }}", "unsupported operand"),
        ("{{ {} * 2 }}", "unsupported operand"),
        ("{{ {} ** 2 }}", "unsupported operand"),
        ("{{ 5 % 'a' }}", "remainder of numbers"),
        ("{{ 'a' - 1 }}", "unsupported operand"),
        ("{{ '%9s' % 1 }}", "remainder of numbers"),
        ("{{ (0 - 8) ** 0.5 }}", "no real number"),
        ("{{ 2.0 ** 5000 }}", "a number becomes too large"),
        ("{{ 'a' < 1 }}", "not supported"),
        ("{{ [3, 'a'] | sort }}", "not supported"),
        ("{{ range }}", "holds a function"),
        ("{{ range ~ '' }}", "holds a function"),
        ("{{ {1: 2} }}", "the field name 1"),
        ("{{ {[]: 2} }}", "unhashable"),
        ("{{ 'nan' | float }}", "no JSON number"),
        ("x{{ 'inf' | float }}", "no JSON number"),
        ("{{ 'x' | from_json }}", "Expecting value"),
        ("{{ ('[' * 100000) | from_json }}", "nested too deeply"),
        ("{{ run.input.text[0:1:0] }}", "slice step cannot be zero"),
        ("{{ run[0:1] }}", "unhashable"),
        ("{{ 1 | batch(0) | list }}", "at least 1"),
        ("{{ 5 | length }}", "has no len"),
        (DEEP + "{{ x == y }}", "nested too deeply"),
    ],
)
def test_what_breaks_says_why(text: str, words: str) -> None:
    problem = fails(text)
    assert problem.code == "expression_failed"
    assert words in problem.message


# ------------------------------------------------------------------ bounds


SMALL = Limits(operations=100_000, seconds=600, characters=1_000_000, items=50_000)


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{% for a in range(10000) %}{% for b in range(10000) %}{% endfor %}{% endfor %}", "more than 100000 items"),
        ("{% for a in range(10000) %}{{ range(10000) | sum }}{% endfor %}", "more than 100000 items"),
        ("{{ 'a' * 1000000000 }}", "a text of more than"),
        ("{{ 1000000000 * 'a' }}", "a text of more than"),
        ("{{ [0] * 1000000000 }}", "more than 50000 values"),
        ("{{ 9 ** 1000000000 }}", "an integer of more than"),
        ("{% set x = 9 ** 300 %}{{ x * x * x * x * x }}", "an integer of more than"),
        ("{% set x = 'aaaaaaaaaaaaaaaa' %}" + "{% set x = x ~ x %}" * 40 + "{{ x }}", "a text of more than"),
        ("{% set x = 'aaaaaaaaaaaaaaaa' %}" + "{% set x = x + x %}" * 40 + "{{ x }}", "a text of more than"),
        ("{% set x = [1] %}" + "{% set x = x + x %}" * 40 + "{{ x }}", "more than 50000 values"),
        ("{% set x = [1] %}" + "{% set x = [x, x] %}" * 40 + "{{ x }}", "more than 50000 values"),
        (
            "{% set x %}aaaaaaaaaaaaaaaa{% endset %}" + "{% set x %}{{ x }}{{ x }}{% endset %}" * 40 + "{{ x }}",
            "a text of more",
        ),
        ("{{ ('a' * 10000) | replace('a', 'b' * 10000) }}", "a text of more than"),
        ("{{ ('a' * 300000) | list | length }}", "more than 50000 values"),
        ("{{ range(10000) | join('a' * 10000) }}", "a text of more than"),
        ("{{ [1] | batch(1000000000, 0) }}", "more than 50000 values"),
        ("{{ ('a ' * 300000) | split | length }}", "more than 50000 values"),
        ("{% for i in range(10000) %}{{ 'a' * 10000 }}{% endfor %}", "a text of more than"),
    ],
)
def test_bombs_are_stopped(text: str, words: str) -> None:
    problem = fails(text, limits=SMALL)
    assert isinstance(problem, ExpressionLimitExceeded)
    assert words in problem.message


def test_range_has_an_end() -> None:
    assert evaluate("{{ range(2, 10, 3) }}", SCOPE) == [2, 5, 8]
    assert len(evaluate("{{ range(10000) }}", SCOPE)) == 10_000
    assert "at most 10000" in fails("{{ range(10001) }}").message


def test_a_slow_expression_is_stopped_by_the_clock() -> None:
    problem = fails("{% for i in range(10000) %}{{ i }}{% endfor %}", limits=Limits(seconds=0.0))
    assert problem.code == "expression_limit"
    assert "longer than 0 seconds" in problem.message


def test_a_result_is_nested_as_deep_as_json_may_be() -> None:
    assert fails("{% set x = [1] %}" + "{% set x = [x] %}" * 70 + "{{ x }}").message.endswith("nested deeper than 64")


def test_too_little_memory_is_told_as_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(import_module("builder.expressions.evaluate"), "plain", full)
    assert fails("{{ 1 + 1 }}").message == "the expression makes more than the memory can hold"


def test_bounds_hold_for_all_fields_together() -> None:
    config = {"a": "{{ range(900) }}", "b": "{{ range(900) | sum }}", "c": "{{ range(900) | sum }}"}
    with pytest.raises(ExpressionLimitExceeded) as caught:
        resolve(config, SCOPE, limits=Limits(operations=1000))
    assert caught.value.field == "c"


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
    from builder.expressions.budget import Spending, current

    with Spending(Limits(operations=7)) as outer:
        assert evaluate("{{ range(100) | sum }}", {}) == 4950
        assert current() is outer
        assert outer.left == 7
