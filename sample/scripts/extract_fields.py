# Find the fields of an invoice in the text that OCR read; fail where a key field is missing

import re
from decimal import Decimal

MONTHS = [
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
]  # fmt: skip
NUMBER = r"[0-9][0-9,.]*"
LABELS = {
    "invoice_number": r"invoice[ .]*(?:number[ .]*:|no[ .]*\.|#)[ .]*([A-Z]+ *- *[0-9. ]+)",
    "vat_id": r"vat[ .]*(?:id[ .]*:|registration[ .]*no[ .]*\.|no[ .]*\.)[ .]*([A-Z]{2,3} *[0-9A-Z]+)",
    "po_number": r"(?:purchase[ .]*order[ .]*:|your[ .]*order[ .]*:|po[ .]*reference[ .]*:)[ .]*(PO *- *[0-9. ]+)",
}
DAY = r"[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{2}/[0-9]{2}/[0-9]{4}|[0-9]{1,2} *[a-z]+ *[0-9]{4}"
DATE = rf"(?:invoice[ .]*date|date[ .]*of[ .]*issue|date)[ .]*:[ .]*({DAY})"
TOTAL = rf"(?:total[ .]*due|amount[ .]*payable|grand[ .]*total)[ .]*:[ .]*([A-Z]{{3}})[ .]*({NUMBER})"
LINE = re.compile(rf"^\W*(.*?\D) *([0-9]+) *x *({NUMBER}) *= *({NUMBER})$")


def amount(text):
    """Takes commas for grouping. Where a speck was read as a second point, the last one counts."""
    whole, _, cents = text.replace(",", "").rpartition(".")
    return Decimal(f"{whole.replace('.', '')}.{cents}")


def found(pattern, text, what):
    match = re.search(pattern, text, re.IGNORECASE)
    if match is None:
        raise ValueError(f"No {what} was found in the text of this document:\n{text}")
    return match


def iso_date(text):
    if "/" in text:
        day, month, year = text.split("/")
    elif "-" in text:
        year, month, day = text.split("-")
    else:
        day, word, year = re.fullmatch(r"([0-9]+) *([a-z]+) *([0-9]+)", text, re.IGNORECASE).groups()
        month = MONTHS.index(word.lower()) + 1
    return f"{year}-{int(month):02}-{int(day):02}"


def read_lines(rows):
    lines = []
    for row in rows:
        match = LINE.match(row)
        if match:
            description, quantity, price, total = match.groups()
            if int(quantity) * amount(price) != amount(total):
                raise ValueError(f"This line does not add up: {row}")
            lines.append(
                {
                    "description": description.strip(" ."),
                    "quantity": int(quantity),
                    "unit_price": str(amount(price)),
                    "amount": str(amount(total)),
                }
            )
    return lines


def extract(document, text):
    rows = [row.strip() for row in text.splitlines() if row.strip()]
    clean = {name: re.sub(r"[ .]", "", found(pattern, text, name).group(1)).upper() for name, pattern in LABELS.items()}
    currency, total = found(TOTAL, text, "total").groups()
    net = amount(found(rf"net *amount *: *({NUMBER})", text, "net").group(1))
    vat_percent, vat = found(rf"vat *([0-9]+) *% *: *({NUMBER})", text, "vat").groups()
    lines = read_lines(rows)
    if net + amount(vat) != amount(total) or sum(Decimal(line["amount"]) for line in lines) != net:
        raise ValueError(f"The sums of {clean['invoice_number']} do not add up: {net} + {vat} is not {total}.")
    return {
        "document": document["id"],
        "file": document["name"],
        "supplier": rows[0],
        **clean,
        "invoice_date": iso_date(found(DATE, text, "date").group(1)),
        "currency": currency.upper().replace("É", "E"),
        "net": str(net),
        "vat": str(amount(vat)),
        "vat_percent": int(vat_percent),
        "total": str(amount(total)),
        "lines": lines,
    }


def main(inputs):
    return extract(inputs["document"], inputs["text"])
