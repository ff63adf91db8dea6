# Write the reviewer's corrections into the invoices, and sum up anew

from decimal import Decimal

HEAD_FIELDS = {"po_number", "supplier", "invoice_date", "vat_id", "currency"}
LINE_FIELDS = {"description", "quantity", "unit_price"}


def correct(invoice, correction):
    field, value = correction["field"], correction["value"]
    if "line" in correction:
        position = int(correction["line"])
        if field not in LINE_FIELDS or not 1 <= position <= len(invoice["lines"]):
            raise ValueError(f"{invoice['invoice_number']} has no {field} in a line {position} to correct.")
        invoice["lines"][position - 1][field] = int(value) if field == "quantity" else str(value)
    elif field in HEAD_FIELDS:
        invoice[field] = str(value)
    else:
        raise ValueError(f"{field!r} is not a field that a reviewer corrects.")


def sum_up(invoice):
    net = Decimal(0)
    for line in invoice["lines"]:
        line["amount"] = str((line["quantity"] * Decimal(line["unit_price"])).quantize(Decimal("0.01")))
        net += Decimal(line["amount"])
    vat = (net * invoice["vat_percent"] / 100).quantize(Decimal("0.01"))
    invoice.update(net=str(net), vat=str(vat), total=str(net + vat))


def apply(invoices, corrections):
    by_number = {invoice["invoice_number"]: invoice for invoice in invoices}
    for correction in corrections:
        invoice = by_number.get(correction["invoice_number"])
        if invoice is None:
            raise ValueError(f"There is no invoice {correction['invoice_number']} in this batch to correct.")
        correct(invoice, correction)
        sum_up(invoice)
    return {
        "documents": invoices,
        "corrected": sorted({correction["invoice_number"] for correction in corrections}),
    }


def main(inputs):
    # Approved without corrections of their own: the reviewer accepts the proposed ones.
    given = inputs["answer"].get("data") or {}
    return apply(inputs["invoices"], given.get("corrections", inputs["proposed"]))
