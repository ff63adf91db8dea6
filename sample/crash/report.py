"""The demo's table, its findings and its last line."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from sample.crash.compare import (
    RunFacts,
    attempts_of,
    launch_differences,
    recovery_s,
    repeated_launches,
    wrong_attempts,
)
from sample.documents import INVOICES, money
from sample.graphs import INVOICE_STEPS
from sample.orders import REVIEWER_CORRECTIONS, purchase_orders

HEADINGS = ("step", "attempts", "started", "finished", "reused or run")


def summary(facts: RunFacts) -> dict[str, Any]:
    """What the last line says of a run."""
    return {
        "status": facts.status,
        "attempts": {str(number): attempts_of(facts, top) for number, top in enumerate(INVOICE_STEPS, start=1)},
        "repeated_finished_steps": len(repeated_launches(facts)),
        "recovery_s": recovery_s(facts),
    }


def findings(facts: RunFacts, payments: str) -> list[str]:
    """Everything that is not as it must be; empty if all is well."""
    found = [*wrong_attempts(facts, INVOICE_STEPS), *launch_differences(facts), *wrong_payments(payments)]
    found += [f"{launch.path} began again after its success was committed" for launch in repeated_launches(facts)]
    if facts.status != "succeeded":
        found.append(f"the run ended as {facts.status}")
    if recovery_s(facts) is None:
        found.append("step 8 has no second attempt")
    return [f"Run {facts.run}: {each}" for each in found]


def wrong_payments(payments: str) -> Iterable[str]:
    """The uploaded file against what a perfect reader and the reviewer's corrections give."""
    rows = {row["invoice_number"]: row for row in csv.DictReader(io.StringIO(payments))}
    expected = expected_payments()
    if set(rows) != set(expected):
        yield f"the uploaded file has the invoices {sorted(rows)}, and should have {sorted(expected)}"
    for number in sorted(set(rows) & set(expected)):
        for name, value in expected[number].items():
            if rows[number][name] != value:
                yield f"{number}: the uploaded file says {name} {rows[number][name]!r}; it is {value!r}"


def expected_payments() -> Mapping[str, Mapping[str, str]]:
    """After the corrections each invoice says what its order says."""
    orders = {order.supplier: order for order in purchase_orders()}
    found = {}
    for invoice in INVOICES:
        order = orders[invoice.supplier]
        net = sum((line.amount for line in order.lines), Decimal(0))
        vat = (net * invoice.vat_percent / 100).quantize(Decimal("0.01"))
        found[invoice.number] = {
            "supplier": invoice.supplier, "vat_id": invoice.vat_id, "po_number": order.po_number,
            "invoice_date": invoice.date, "currency": invoice.currency, "net": money(net), "vat": money(vat),
            "total": money(net + vat),
        }  # fmt: skip
    assert {each["invoice_number"] for each in REVIEWER_CORRECTIONS} <= set(found)
    return found


def table(facts: RunFacts) -> str:
    """'reused': finished before the crash or the resume, and not touched since."""
    rows: list[Sequence[str]] = [HEADINGS]
    for number, top in enumerate(INVOICE_STEPS, start=1):
        step = next(step for step in facts.steps if step.path == top)
        is_reused = step.succeeded_at is not None and step.succeeded_at.timestamp() < facts.broke_at
        rows.append(
            (
                f"{number:>2} {top}",
                str(attempts_of(facts, top)),
                _clock(step.started_at),
                _clock(step.finished_at),
                "reused" if is_reused else "run",
            )
        )
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADINGS))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )


def _clock(moment: str | None) -> str:
    return moment[11:23] if moment else "-"
