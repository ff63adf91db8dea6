"""The supplier invoices of the sample: scans that Pawl makes itself, so that what OCR reads can be checked.

Deterministic: the same version of Pillow makes the same bytes. `make_documents(folder)` writes twelve and the truth.
Known on purpose: two invoices do not agree with their purchase order (see sample/orders.py); a reviewer corrects them.
"""

import json
import random
import time
from dataclasses import asdict, dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from PIL import Image, ImageChops, ImageDraw, ImageFilter, ImageFont

EDITION = 1  # raise it when a drawing changes: folders made by an older one are made anew
WIDTH, HEIGHT = 760, 800
_PDF_DATE = time.gmtime(1_773_446_400)  # fixed, else each file would carry the time it was made


@dataclass(frozen=True)
class Line:
    description: str
    quantity: int
    unit_price: Decimal

    @property
    def amount(self) -> Decimal:
        return self.quantity * self.unit_price


@dataclass(frozen=True)
class Scan:
    """How the paper went through the scanner."""

    skew_deg: float = 0.0
    noise: float = 0.0  # share of grain mixed in, 0..1
    ink: int = 20  # darkest grey of the print
    paper: int = 250  # brightest grey of the sheet
    blur: float = 0.0
    shade: bool = False  # the lid stood open: one side is darker
    specks: int = 0


@dataclass(frozen=True)
class Invoice:
    file: str
    supplier: str
    number: str
    date: str  # ISO
    vat_id: str
    po_number: str
    currency: str
    vat_percent: int
    lines: tuple[Line, ...]
    layout: str = "plain"
    scan: Scan = Scan()
    pages: int = 1

    @property
    def net(self) -> Decimal:
        return sum((line.amount for line in self.lines), Decimal(0))

    @property
    def vat(self) -> Decimal:
        return (self.net * self.vat_percent / 100).quantize(Decimal("0.01"))

    @property
    def total(self) -> Decimal:
        return self.net + self.vat


@dataclass(frozen=True)
class Layout:
    """The words that one kind of supplier prints."""

    number: str
    date: str
    vat_id: str
    po_number: str
    total: str
    date_format: str


LAYOUTS = {
    "plain": Layout("Invoice number: ", "Invoice date: ", "VAT ID: ", "Purchase order: ", "Total due: ", "iso"),
    "long": Layout(
        "Invoice no. ", "Date of issue: ", "VAT registration no. ", "Your order: ", "Amount payable: ", "words"
    ),
    "terse": Layout("Invoice # ", "Date: ", "VAT no. ", "PO reference: ", "Grand total: ", "slashes"),
}
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip


def _lines(*rows: tuple[str, int, str]) -> tuple[Line, ...]:
    return tuple(Line(description, quantity, Decimal(price)) for description, quantity, price in rows)


INVOICES: tuple[Invoice, ...] = (
    Invoice(
        "invoice-01.png", "Nordlicht Papier GmbH", "NP-20417", "2026-03-02", "DE811907980", "PO-7701", "EUR", 19,
        _lines(("Copy paper, white", 40, "4.15"), ("Toner cartridge, black", 6, "59.90")),
    ),
    Invoice(
        "invoice-02.png", "Harbour Office Supply Ltd", "HOS-5512", "2026-03-03", "GB927364512", "PO-7702", "GBP", 20,
        _lines(("Standing desk", 3, "412.00"), ("Desk lamp", 3, "38.50")), "long", Scan(skew_deg=1.8),
    ),
    Invoice(
        "invoice-03.pdf", "Cafe Meridian BV", "CM-0933", "2026-03-04", "NL856213974", "PO-7703", "EUR", 9,
        _lines(("Coffee beans, dark roast", 25, "11.80"), ("Oat drink, carton", 12, "14.40")), "terse",
    ),
    Invoice(
        "invoice-04.png", "Delta Cleaning Services", "DCS-2288", "2026-03-05", "IE6388047V", "PO-7704", "EUR", 23,
        _lines(("Office cleaning, weekly", 4, "185.00"),), "plain", Scan(noise=0.22),
    ),
    Invoice(
        "invoice-05.png", "Alpine Data Centers AG", "ADC-71130", "2026-03-06", "CHE116281838", "PO-7705", "CHF", 8,
        _lines(("Rack unit, monthly fee", 12, "96.00"), ("Remote hands, hour", 5, "140.00")), "long",
        Scan(ink=138, paper=226),
    ),
    Invoice(
        "invoice-06.pdf", "Brightwire Telecom SA", "BT-90871", "2026-03-09", "FR40303265045", "PO-7706", "EUR", 20,
        _lines(("Fibre line, monthly fee", 2, "349.00"), ("Mobile plan", 18, "22.50")), "terse", Scan(skew_deg=-2.4),
    ),
    Invoice(
        "invoice-07.pdf", "Rosewood Furniture Inc", "RF-30052", "2026-03-10", "US452198763", "PO-7707", "USD", 0,
        _lines(
            ("Meeting table, oak", 2, "1240.00"), ("Chair, stackable", 24, "89.00"), ("Cabinet, lockable", 4, "310.00"),
            ("Whiteboard, wide", 3, "175.00"), ("Delivery and assembly", 1, "480.00"), ("Floor mat", 10, "24.90"),
        ), "plain", Scan(), 2,
    ),
    # The supplier printed the order's number with two digits swapped (PO-7780 instead of PO-7708).
    Invoice(
        "invoice-08.png", "Quayside Print Works", "QPW-6604", "2026-03-11", "GB331872906", "PO-7780", "GBP", 20,
        _lines(("Brochure, folded", 2000, "0.42"), ("Poster, large", 50, "6.30")), "long",
        Scan(skew_deg=-1.2, noise=0.15),
    ),
    Invoice(
        "invoice-09.png", "Verde Catering SRL", "VC-1187", "2026-03-12", "IT07643520567", "PO-7709", "EUR", 10,
        _lines(("Lunch buffet, person", 36, "18.50"), ("Mineral water, case", 8, "7.20")), "terse", Scan(shade=True),
    ),
    Invoice(
        "invoice-10.pdf", "Solveig Travel AS", "ST-44019", "2026-03-13", "NO974760673", "PO-7710", "NOK", 12,
        _lines(("Train ticket, return", 5, "1490.00"), ("Hotel night", 8, "1650.00")), "plain",
        Scan(ink=120, paper=232, noise=0.12),
    ),
    # Three more licences than were ordered: the reviewer takes the quantity back to that of the order.
    Invoice(
        "invoice-11.png", "Kestrel Software Ltd", "KS-8830", "2026-03-16", "GB604915238", "PO-7711", "GBP", 20,
        _lines(("Licence, one year", 28, "120.00"), ("Support package", 1, "950.00")), "long", Scan(blur=0.8),
    ),
    Invoice(
        "invoice-12.png", "Orchard Print and Copy", "OPC-0275", "2026-03-17", "DE265718843", "PO-7712", "EUR", 19,
        _lines(("Photocopier lease, month", 3, "210.00"), ("Service visit", 2, "95.00")), "terse",
        Scan(skew_deg=0.9, specks=110, paper=240),
    ),
)  # fmt: skip


def money(value: Decimal, *, grouped: bool = False) -> str:
    return f"{value:,.2f}" if grouped else f"{value:.2f}"


def printed_date(iso: str, form: str) -> str:
    year, month, day = iso.split("-")
    if form == "words":
        return f"{int(day)} {MONTHS[int(month) - 1]} {year}"
    return f"{day}/{month}/{year}" if form == "slashes" else iso


def truth(invoice: Invoice) -> dict[str, Any]:
    """What a perfect reader finds on the invoice; amounts as text with two decimals."""
    return {
        "file": invoice.file,
        "supplier": invoice.supplier,
        "invoice_number": invoice.number,
        "invoice_date": invoice.date,
        "vat_id": invoice.vat_id,
        "po_number": invoice.po_number,
        "currency": invoice.currency,
        "net": money(invoice.net),
        "vat": money(invoice.vat),
        "total": money(invoice.total),
        "lines": [
            {**asdict(line), "unit_price": money(line.unit_price), "amount": money(line.amount)}
            for line in invoice.lines
        ],
        "pages": invoice.pages,
    }


# ------------------------------------------------------------------ drawing


def _font(size: int) -> Any:
    return ImageFont.load_default(size=size)  # Pillow's own scalable font: no system font is needed


def _body(invoice: Invoice) -> list[str]:
    words = LAYOUTS[invoice.layout]
    grouped = invoice.layout != "plain"
    rows = [
        f"{words.number}{invoice.number}",
        f"{words.date}{printed_date(invoice.date, words.date_format)}",
        f"{words.vat_id}{invoice.vat_id}",
        f"{words.po_number}{invoice.po_number}",
        "",
    ]
    rows += [
        f"{line.description}  {line.quantity} x {money(line.unit_price)} = {money(line.amount, grouped=grouped)}"
        for line in invoice.lines
    ]
    totals = [
        f"Net amount: {money(invoice.net, grouped=grouped)}",
        f"VAT {invoice.vat_percent} %: {money(invoice.vat, grouped=grouped)}",
        f"{words.total}{invoice.currency} {money(invoice.total, grouped=grouped)}",
    ]
    return [*rows, "", *totals]


def _sheet(title: str, rows: list[str], footer: str) -> Image.Image:
    image = Image.new("L", (WIDTH, HEIGHT), 255)
    draw = ImageDraw.Draw(image)
    draw.text((60, 56), title, font=_font(34), fill=0)
    draw.line((60, 112, WIDTH - 60, 112), fill=0, width=2)
    top = 150
    for row in rows:
        draw.text((60, top), row, font=_font(23), fill=0)
        top += 44 if row else 22
    draw.text((60, HEIGHT - 60), footer, font=_font(17), fill=0)
    return image


def _pages(invoice: Invoice) -> list[Image.Image]:
    rows = _body(invoice)
    if invoice.pages == 1:
        return [_sheet(invoice.supplier, rows, "Page 1 of 1")]
    cut = 5 + len(invoice.lines) // 2 + 1  # head and half of the lines; the totals stand on the last page
    return [
        _sheet(invoice.supplier, rows[:cut], "Page 1 of 2"),
        _sheet(invoice.supplier, rows[cut:], "Page 2 of 2"),
    ]


# ------------------------------------------------------------------ scanning


def _scanned(page: Image.Image, scan: Scan, chance: random.Random) -> Image.Image:
    span = scan.paper - scan.ink
    image = page.point([scan.ink + value * span // 255 for value in range(256)])
    if scan.skew_deg:
        image = image.rotate(scan.skew_deg, Image.Resampling.BICUBIC, fillcolor=scan.paper)
    if scan.blur:
        image = image.filter(ImageFilter.GaussianBlur(scan.blur))
    if scan.shade:
        shade = (
            Image.linear_gradient("L")
            .rotate(90)
            .resize(image.size)
            .point([155 + value * 100 // 255 for value in range(256)])
        )
        image = ImageChops.multiply(image, shade)
    if scan.noise:
        grain = Image.frombytes("L", image.size, chance.randbytes(image.width * image.height))
        image = Image.blend(image, grain, scan.noise)
    _speckle(image, scan.specks, chance)
    return image.quantize(16) if scan.noise else image.quantize(32)  # few greys: small files


def _speckle(image: Image.Image, count: int, chance: random.Random) -> None:
    draw = ImageDraw.Draw(image)
    for _ in range(count):
        x, y = chance.randrange(image.width), chance.randrange(image.height)
        draw.ellipse((x, y, x + 1, y + chance.randrange(1, 3)), fill=150)


def draw_invoice(invoice: Invoice) -> list[Image.Image]:
    """The pages of an invoice as they come out of the scanner."""
    chance = random.Random(f"{EDITION}:{invoice.file}")  # noqa: S311 - the grain of a drawing
    return [_scanned(page, invoice.scan, chance) for page in _pages(invoice)]


def _save(invoice: Invoice, folder: Path) -> None:
    first, *rest = draw_invoice(invoice)
    path = folder / invoice.file
    if path.suffix == ".pdf":
        pages = [page.convert("L") for page in (first, *rest)]
        pages[0].save(
            path, save_all=True, append_images=pages[1:], resolution=100.0, quality=80,
            creationDate=_PDF_DATE, modDate=_PDF_DATE,
        )  # fmt: skip
    else:
        first.save(path, optimize=True)


def make_documents(folder: Path) -> Path:
    """Writes all documents, and `truth.json` last: its presence says the folder is complete. Returns its path."""
    truth_file = folder / "truth.json"
    wanted = {"edition": EDITION, "documents": [truth(invoice) for invoice in INVOICES]}
    if truth_file.exists() and json.loads(truth_file.read_text()) == wanted:
        return truth_file
    folder.mkdir(parents=True, exist_ok=True)
    for invoice in INVOICES:
        _save(invoice, folder)
    unfinished = truth_file.with_suffix(".part")
    unfinished.write_text(json.dumps(wanted, indent=1))
    unfinished.replace(truth_file)
    return truth_file
