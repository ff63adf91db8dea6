# Set each invoice beside its order, say what differs, propose corrections

from decimal import Decimal


def orders_by_number(rows):
    orders = {}
    for row in rows:
        order = orders.setdefault(
            row["po_number"], {"supplier": row["supplier"], "currency": row["currency"], "lines": []}
        )
        order["lines"].append(row)
    return orders


def proposal_for_number(invoice, orders, taken):
    """The one order of the same supplier that no other invoice names."""
    open_orders = [
        number for number, order in orders.items() if order["supplier"] == invoice["supplier"] and number not in taken
    ]
    return open_orders[0] if len(open_orders) == 1 else None


def line_differences(invoice, order):
    ordered = {line["description"]: line for line in order["lines"]}
    for position, line in enumerate(invoice["lines"], start=1):
        other = ordered.get(line["description"])
        if other is None:
            yield {"line": position, "field": "description", "value": line["description"], "ordered": None}
            continue
        if int(other["quantity"]) != line["quantity"]:
            yield {
                "line": position, "field": "quantity", "value": line["quantity"], "ordered": int(other["quantity"]),
            }  # fmt: skip
        if Decimal(str(other["unit_price"])) != Decimal(line["unit_price"]):
            yield {
                "line": position, "field": "unit_price", "value": line["unit_price"],
                "ordered": str(other["unit_price"]),
            }  # fmt: skip


def differences(invoice, orders, taken):
    order = orders.get(invoice["po_number"])
    if order is None:
        proposed = proposal_for_number(invoice, orders, taken)
        return [{"field": "po_number", "value": invoice["po_number"], "ordered": proposed}]
    return list(line_differences(invoice, order))


def build(batch, invoices, rows):
    orders = orders_by_number(rows)
    taken = {invoice["po_number"] for invoice in invoices}
    findings = [
        {"invoice_number": invoice["invoice_number"], "supplier": invoice["supplier"], **difference}
        for invoice in invoices
        for difference in differences(invoice, orders, taken)
    ]
    totals = {}
    for invoice in invoices:
        totals[invoice["currency"]] = totals.get(invoice["currency"], Decimal(0)) + Decimal(invoice["total"])
    text = [f"Batch {batch}: {len(invoices)} invoices, {len(findings)} of their details differ from the order.", ""]
    for finding in findings:
        where = f"line {finding['line']}, " if "line" in finding else ""
        text.append(
            f"- {finding['supplier']}, {finding['invoice_number']}: {where}{finding['field']} is {finding['value']}, "
            f"ordered was {finding['ordered'] or 'nothing like it'}."
        )
    text += ["", *(f"To pay in {currency}: {total}" for currency, total in sorted(totals.items()))]
    return {
        "text": "\n".join(text),
        "findings": findings,
        "proposed": [
            {key: finding[key] for key in ("invoice_number", "line", "field") if key in finding}
            | {"value": finding["ordered"]}
            for finding in findings
            if finding["ordered"] is not None
        ],
        "totals": {currency: str(total) for currency, total in sorted(totals.items())},
    }


def main(inputs):
    return build(inputs["batch"], inputs["invoices"], inputs["orders"])
