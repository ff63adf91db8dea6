"""Each filter and test by example; the list here is the list that there is."""

from typing import Any

import pytest

from builder.expressions import ExpressionError, evaluate
from builder.expressions.filters import FILTERS, TESTS

ROWS = [{"k": "x", "v": 1.5}, {"k": "y", "v": 2}, {"k": "x", "v": 3}]
SCOPE: dict[str, Any] = {"run": {"rows": ROWS, "o": {"b": 1, "a": 2}}}

EXAMPLES: list[tuple[str, Any]] = [
    ("(0 - 3) | abs", 3),
    ("[1, 2, 3] | batch(2)", [[1, 2], [3]]),
    ("[1, 2, 3] | batch(2, 0)", [[1, 2], [3, 0]]),
    ("[] | batch(2, 0)", []),
    ("'aB' | capitalize", "Ab"),
    ("[1, 2] | count", 2),
    ("zz | d(1)", 1),
    ("'2026-01-31T23:30:00+02:00' | date", "2026-01-31"),
    ("0 | date('%d.%m.%Y %H:%M')", "01.01.1970 00:00"),
    ("zz | default('a')", "a"),
    ("run.o | dictsort", [["a", 2], ["b", 1]]),
    ("'<a href=\"x\">' | escape", "&lt;a href=&quot;x&quot;&gt;"),
    ("[1, 2] | first", 1),
    ("'2.5' | float", 2.5),
    ("'{\"a\": [1]}' | from_json", {"a": [1]}),
    ("run.rows | groupby('k')", [{"key": "x", "items": [ROWS[0], ROWS[2]]}, {"key": "y", "items": [ROWS[1]]}]),
    ("[{}] | groupby('k', default=0)", [{"key": 0, "items": [{}]}]),
    ("'12' | int", 12),
    ("run.o | items", [["b", 1], ["a", 2]]),
    ("[1, none, 'a'] | join('-')", "1-null-a"),
    ("run.rows | join(attribute='k')", "xyx"),
    ("run.o | json", '{"b":1,"a":2}'),
    ("[1] | json(indent=1)", "[\n 1\n]"),
    ("run.o | keys", ["b", "a"]),
    ("[1, 2] | last", 2),
    ("'abc' | length", 3),
    ("'abc' | list", ["a", "b", "c"]),
    ("(run.rows | map(attribute='k')) | list", ["x", "y", "x"]),
    ("'AB' | lower", "ab"),
    ("['a', 'b'] | map('upper')", ["A", "B"]),
    ("run.rows | map(attribute='v') | max", 3),
    ("run.o | merge({'b': 5}, {'c': 6})", {"b": 5, "a": 2, "c": 6}),
    ("[3, 1] | min", 1),
    ("[1, 2] | reject('even')", [1]),
    ("run.rows | rejectattr('k', 'eq', 'x') | list", [ROWS[1]]),
    ("'a-b-c' | replace('-', '+')", "a+b+c"),
    ("'a-b-c' | replace('-', '', 1)", "ab-c"),
    ("[1, 2] | reverse", [2, 1]),
    ("2.5 | round", 3),
    ("(0 - 2.5) | round", -3),
    ("2.675 | round(2)", 2.68),
    ("1234 | round(0 - 2)", 1200),
    ("2.1 | round(method='ceil')", 3),
    ("2.9 | round(0, 'floor')", 2),
    ("1e300 | round", 10**300),
    ("'2026-01-31' | seconds_until('2026-02-01T00:00:00Z')", 86400.0),
    ("[1, 2] | select('odd')", [1]),
    ("run.rows | selectattr('v', '>', 1.6) | map(attribute='v')", [2, 3]),
    ("'2026-01-31' | shift(days=1, hours=0-1)", "2026-01-31T23:00:00Z"),
    ("[3, 1, 2] | sort", [1, 2, 3]),
    ("run.rows | sort(attribute='v', reverse=true) | first", ROWS[2]),
    ("'a,b' | split(',')", ["a", "b"]),
    ("'a  b' | split", ["a", "b"]),
    ("[1] | string", "[1]"),
    ("run.rows | sum(attribute='v')", 6.5),
    ("[1, 2] | sum(start=10)", 13),
    ("'ab cd' | title", "Ab Cd"),
    ("'ä' | tojson", '"ä"'),
    ("' a ' | trim", "a"),
    ("'abcdefghij' | truncate(5, true, '..', 0)", "abc.."),
    ("[1, 2, 1] | unique", [1, 2]),
    ("'ab' | upper", "AB"),
    ("'a b/c' | urlencode", "a%20b/c"),
    ("run.o | values", [1, 2]),
    ("'a b' | wordcount", 2),
    ("true is boolean", True),
    ("zz is defined", False),
    ("4 is divisibleby 2", True),
    ("1 is eq 1", True),
    ("1 is equalto 1", True),
    ("2 is even", True),
    ("false is false", True),
    ("1.5 is float", True),
    ("1 is ge 1", True),
    ("2 is greaterthan 1", True),
    ("2 is gt 1", True),
    ("1 is in [1]", True),
    ("1 is integer", True),
    ("[] is iterable", True),
    ("1 is le 1", True),
    ("1 is lessthan 2", True),
    ("'a' is lower", True),
    ("1 is lt 2", True),
    ("run is mapping", True),
    ("1 is ne 2", True),
    ("none is none", True),
    ("1 is number", True),
    ("1 is odd", True),
    ("[] is sequence", True),
    ("'' is string", True),
    ("true is true", True),
    ("zz is undefined", True),
    ("'A' is upper", True),
    ("'abc' is startingwith 'ab'", True),
    ("12 is endingwith '2'", True),
]


@pytest.mark.parametrize(("expression", "value"), EXAMPLES)
def test_an_example_gives_its_value(expression: str, value: Any) -> None:
    found = evaluate(f"{{{{ {expression} }}}}", SCOPE)
    assert found == value
    assert type(found) is type(value)


def test_every_filter_and_test_has_an_example() -> None:
    said = " ".join(expression for expression, _ in EXAMPLES)
    words = set(said.replace("(", " ").replace(")", " ").replace("}", " ").split())
    assert [name for name in FILTERS if name not in words] == []
    assert [name for name in TESTS if name.isalpha() and name not in words] == []


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("[1, 'a'] | sum", "one entry is a"),
        ("[[1], [2]] | sum(start=[])", "one entry is [1]"),
        ("[true] | sum", "one entry is true"),
        ("1 | round(99)", "at most 15 places"),
        ("1 | round(method='up')", "knows the methods common, ceil, floor"),
        ("'1' | round", "takes a number"),
        ("true | round", "takes a number"),
        ("[] | json(indent=99)", "at most 8"),
        ("'2026-01-31' | date('%999999999Y')", "does not know"),
        ("'2026-01-31' | date('%')", "does not know"),
        ("'yesterday' | date", "Invalid isoformat"),
        ("true | date", "an ISO text"),
        ("[] | date", "an ISO text"),
        ("1e20 | date", "too large"),
        ("'9999-12-31' | shift(days=1)", "too large"),
        ("run.o | merge(5)", "not iterable"),
        ("[1] | map('nothing')", "No filter named"),
    ],
)
def test_wrong_arguments_are_told(expression: str, words: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        evaluate(f"{{{{ {expression} }}}}", SCOPE)
    assert words in caught.value.message


@pytest.mark.parametrize("text", ["a\0b", "\ud800", "😀", '"\\', ""])
def test_json_of_any_text_can_be_read_again(text: str) -> None:
    scope = {"run": {"text": text}}
    assert evaluate("{{ [run.text] | json | from_json | first }}", scope) == text
    evaluate("{{ [run.text] | json }}", scope).encode()
