"""What README and CHANGELOG tell of the sample, the crash demo and the library is what the code does."""

import re

from config.services.house import DEFAULT_PORTS
from sample.crash.report import HEADINGS
from sample.graphs import AGENTS_NAME, INVOICE_STEPS, INVOICES_NAME, TITLES
from sample.settings import DEMO_WORKSPACE
from steps.registry import BUILTIN
from tests.contract.sources import text

README = text("README.md")


def test_the_printed_table_has_the_steps_and_headings_of_the_crash_demo() -> None:
    table = re.findall(r"^ {4} ?(\d+) (\w+) +(\d) ", README, re.MULTILINE)
    assert [name for _, name, _ in table] == list(INVOICE_STEPS)
    assert [int(attempts) for _, _, attempts in table] == [2 if name == "compliance" else 1 for name in INVOICE_STEPS]
    head = next(line for line in README.splitlines() if line.startswith("    step "))
    assert re.split(r" {2,}", head.strip()) == list(HEADINGS)


def test_the_five_minutes_name_what_is_seeded() -> None:
    named = (INVOICES_NAME, AGENTS_NAME, TITLES["review"], TITLES["compliance"], DEMO_WORKSPACE.title())
    assert [name for name in named if name not in README] == []
    assert set(re.findall(r"127\.0\.0\.1:(\d+)/admin/", README)) == {str(DEFAULT_PORTS["sample_http"])}


def test_every_promise_is_printed_once() -> None:
    assert re.findall(r"^\| (P\d) \|", README, re.MULTILINE) == [f"P{number}" for number in range(1, 10)]


def test_the_changelog_counts_the_kinds() -> None:
    assert f"- {len(BUILTIN)} step kinds:" in text("CHANGELOG.md")
