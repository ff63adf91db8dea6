"""What expressions cannot say, and what they may use up."""

from importlib import import_module

import pytest

from builder.expressions import ExpressionLimitExceeded, ExpressionSyntaxError, Limits, evaluate, resolve
from tests.unit.builder_expressions.examples import SCOPE, fails


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


def test_an_error_does_not_repeat_a_large_value() -> None:
    assert len(fails("{{ ('x' * 100000) | date }}").message) < 400
    assert len(fails("{{ run['x' * 100000] }}").message) < 400


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
        ("{{ 'abc' | truncate(1) }}", "expected length"),
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
