# The payment file that the bank takes, and a summary for people

import csv
import io
from decimal import Decimal

COLUMNS = ["invoice_number", "supplier", "vat_id", "po_number", "invoice_date", "currency", "net", "vat", "total"]


def payment_file(invoices):
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, COLUMNS, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(sorted(invoices, key=lambda invoice: invoice["invoice_number"]))
    return text.getvalue()


def summary(batch, invoices, compliance, corrected):
    totals = {}
    for invoice in invoices:
        totals[invoice["currency"]] = totals.get(invoice["currency"], Decimal(0)) + Decimal(invoice["total"])
    lines = [
        f"Batch {batch}: {len(invoices)} invoices are ready to be paid.",
        f"Corrected by the reviewer: {', '.join(corrected) or 'none'}.",
        f"Compliance: {compliance['verdict']}.",
        *(f"- {note['invoice_number']}: {note['message']}" for note in compliance["findings"]),
        "",
        *(f"{currency} {total}" for currency, total in sorted(totals.items())),
    ]
    return "\n".join(lines)


def main(inputs):
    if inputs["compliance"]["verdict"] == "refused":
        raise ValueError(f"The policy service refuses this batch: {inputs['compliance']['findings']}")
    invoices = inputs["invoices"]
    return {
        "csv": payment_file(invoices),
        "summary": summary(inputs["batch"], invoices, inputs["compliance"], inputs["corrected"]),
    }
