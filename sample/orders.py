"""What the buyer ordered: the rows of the sample's own database, against which the invoices are cross-referenced."""

from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from sample.documents import INVOICES, Invoice, Line

# What differs on purpose between an invoice and its order; see the comments in sample/documents.py.
_ORDERED_AS = {"PO-7780": "PO-7708"}
_ORDERED_QUANTITY = {("PO-7711", "Licence, one year"): 25}

SCHEMA = (
    """create table if not exists purchase_orders (
        po_number text primary key, batch text not null, supplier text not null, currency text not null)""",
    """create table if not exists purchase_order_lines (
        po_number text not null references purchase_orders, position integer not null, description text not null,
        quantity integer not null, unit_price numeric(12, 2) not null, primary key (po_number, position))""",
)


@dataclass(frozen=True)
class PurchaseOrder:
    po_number: str
    supplier: str
    currency: str
    lines: tuple[Line, ...]


def purchase_orders() -> list[PurchaseOrder]:
    return [_order(invoice) for invoice in INVOICES]


def _order(invoice: Invoice) -> PurchaseOrder:
    number = _ORDERED_AS.get(invoice.po_number, invoice.po_number)
    lines = tuple(
        replace(line, quantity=_ORDERED_QUANTITY.get((number, line.description), line.quantity))
        for line in invoice.lines
    )
    return PurchaseOrder(number, invoice.supplier, invoice.currency, lines)


def order_rows(batch: str) -> list[tuple[str, str, str, str]]:
    return [(order.po_number, batch, order.supplier, order.currency) for order in purchase_orders()]


def line_rows() -> list[tuple[str, int, str, int, Decimal]]:
    return [
        (order.po_number, position, line.description, line.quantity, line.unit_price)
        for order in purchase_orders()
        for position, line in enumerate(order.lines, start=1)
    ]


# What the reviewer of the demo answers: the order's right number, and the quantity that was ordered.
REVIEWER_CORRECTIONS: list[dict[str, Any]] = [
    {"invoice_number": "QPW-6604", "field": "po_number", "value": "PO-7708"},
    {"invoice_number": "KS-8830", "line": 1, "field": "quantity", "value": 25},
]
