"""The documents: known contents, and an OCR that reads them."""

import importlib.util
import json
import logging
from decimal import Decimal
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from sample.crash.report import wrong_payments
from sample.documents import INVOICES, make_documents, truth
from sample.graphs import SCRIPTS
from sample.orders import REVIEWER_CORRECTIONS, line_rows, purchase_orders
from steps.ocr.run import run as read_text
from steps.ocr.spec import OcrConfig
from steps.python.run import run as run_code
from steps.python.spec import PythonConfig

BATCH = "2026-03"


def script(name: str) -> ModuleType:
    """A script of a python step as a module."""
    spec = importlib.util.spec_from_file_location(name, SCRIPTS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class StorageContext:
    """As much of a step context as the OCR and the sandbox ask for."""

    attempt, previous, idempotency_key = 1, None, "key"

    def __init__(self, storage_root: Path) -> None:
        self.storage_root = storage_root
        self.workdir = storage_root

    def log(self, text: str) -> None:
        logging.getLogger(__name__).info(text)

    def progress(self, done: float, total: float | None = None, text: str = "") -> None:
        pass

    def once(self, key: str, function: Any) -> Any:
        return function()


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_documents(tmp_path_factory.mktemp("documents")).parent


def order_rows() -> list[dict[str, Any]]:
    orders = {order.po_number: order for order in purchase_orders()}
    names = ("po_number", "position", "description", "quantity", "unit_price")
    rows = [dict(zip(names, row, strict=True)) for row in line_rows()]
    heads = {number: {"supplier": order.supplier, "currency": order.currency} for number, order in orders.items()}
    return [row | heads[row["po_number"]] for row in rows]


def perfect_invoices() -> list[dict[str, Any]]:
    known = [truth(invoice) | {"vat_percent": invoice.vat_percent} for invoice in INVOICES]
    return json.loads(json.dumps(known))  # type: ignore[no-any-return]


def test_the_same_documents_are_made_every_time(documents: Path, tmp_path: Path) -> None:
    again = make_documents(tmp_path).parent
    for file in documents.iterdir():
        assert (again / file.name).read_bytes() == file.read_bytes(), file.name


def test_a_complete_folder_is_not_made_again(documents: Path) -> None:
    before = {file.name: file.stat().st_mtime_ns for file in documents.iterdir()}
    make_documents(documents)
    assert {file.name: file.stat().st_mtime_ns for file in documents.iterdir()} == before


def test_documents_are_small_and_of_many_kinds() -> None:
    assert len(INVOICES) == 12
    assert {Path(invoice.file).suffix for invoice in INVOICES} == {".png", ".pdf"}
    assert max(invoice.pages for invoice in INVOICES) == 2
    assert sum(1 for invoice in INVOICES if invoice.scan.skew_deg) >= 3
    assert sum(1 for invoice in INVOICES if invoice.scan.noise) >= 2


@pytest.mark.slow
@pytest.mark.parametrize("invoice", INVOICES, ids=lambda invoice: invoice.file)
def test_ocr_reads_every_field_and_line(documents: Path, invoice: Any) -> None:
    config = OcrConfig(files=[invoice.file], dpi=110)
    text = read_text(config, StorageContext(documents))["text"]  # type: ignore[arg-type]
    document = {"id": Path(invoice.file).stem, "name": invoice.file}
    read = script("extract_fields").main({"document": document, "text": text})
    expected = truth(invoice)
    assert {name: read[name] for name in expected if name != "pages"} == {
        name: value for name, value in expected.items() if name != "pages"
    }


def test_a_document_without_a_number_fails_and_says_what_is_missing() -> None:
    with pytest.raises(ValueError, match="No invoice_number"):
        script("extract_fields").main({"document": {"id": "a", "name": "a.png"}, "text": "Somebody Ltd\nhello"})


def test_sums_that_do_not_add_up_are_refused() -> None:
    text = (
        "Somebody Ltd\nInvoice number: A-1\nInvoice date: 2026-03-02\nVAT ID: DE811907980\nPurchase order: PO-1\n"
        "Paper 2 x 3.00 = 6.00\nNet amount: 6.00\nVAT 19 %: 1.14\nTotal due: EUR 7.15"
    )
    with pytest.raises(ValueError, match="do not add up"):
        script("extract_fields").main({"document": {"id": "a", "name": "a.png"}, "text": text})


def test_the_report_finds_what_differs_from_the_orders_and_proposes_the_reviewer_s_corrections() -> None:
    inputs = {"batch": BATCH, "invoices": perfect_invoices(), "orders": order_rows()}
    report = script("build_report").main(inputs)
    assert report["proposed"] == REVIEWER_CORRECTIONS
    assert "2 of their details differ" in report["text"]


def test_corrections_bring_the_invoices_to_what_was_ordered() -> None:
    answer = {"decision": "approved", "data": {"corrections": REVIEWER_CORRECTIONS}}
    corrected = script("apply_corrections").main({"invoices": perfect_invoices(), "answer": answer, "proposed": []})
    assert corrected["corrected"] == ["KS-8830", "QPW-6604"]
    again = script("build_report").main({"batch": BATCH, "invoices": corrected["documents"], "orders": order_rows()})
    assert again["findings"] == []
    kestrel = next(each for each in corrected["documents"] if each["invoice_number"] == "KS-8830")
    assert Decimal(kestrel["total"]) == Decimal("3950.00") * Decimal("1.2")


@pytest.mark.parametrize(
    ("correction", "complaint"),
    [
        ({"invoice_number": "nobody", "field": "po_number", "value": "x"}, "no invoice nobody"),
        ({"invoice_number": "KS-8830", "field": "total", "value": "1"}, "not a field"),
        ({"invoice_number": "KS-8830", "line": 9, "field": "quantity", "value": 1}, "line 9"),
    ],
)
def test_a_correction_that_fits_nothing_is_refused(correction: dict[str, Any], complaint: str) -> None:
    answer = {"data": {"corrections": [correction]}}
    with pytest.raises(ValueError, match=complaint):
        script("apply_corrections").main({"invoices": perfect_invoices(), "answer": answer, "proposed": []})


def test_without_corrections_the_invoices_stay_as_they_were_read() -> None:
    inputs = {"proposed": REVIEWER_CORRECTIONS, "answer": {"data": {"corrections": []}}}
    untouched = script("apply_corrections").main({"invoices": perfect_invoices(), **inputs})
    assert untouched == {"documents": perfect_invoices(), "corrected": []}


@pytest.mark.parametrize("data", [None, {}])
def test_who_approves_without_a_word_accepts_what_was_proposed(data: Any) -> None:
    inputs = {"proposed": REVIEWER_CORRECTIONS, "answer": {"data": data}}
    corrected = script("apply_corrections").main({"invoices": perfect_invoices(), **inputs})
    assert corrected["corrected"] == ["KS-8830", "QPW-6604"]


def test_a_refused_batch_is_not_formatted() -> None:
    inputs = {"batch": BATCH, "invoices": [], "corrected": [], "compliance": {"verdict": "refused", "findings": []}}
    with pytest.raises(ValueError, match="refuses"):
        script("format_payments").main(inputs)


def test_the_agents_hand_their_work_on() -> None:
    requirements = script("gather_requirements").main({"wish": "Greet the customer. Count the invoices"})
    design = script("draw_design").main(requirements)
    code = script("write_code").main(design)
    tests = script("run_tests").main({**code, "takes_s": 0})
    assert tests["passed"] is True
    assert code["functions"] == ["greet_the_customer", "count_the_invoices"]
    tested = script("plan_deployment").main({"tests": tests, "functions": code["functions"]})
    untested = script("plan_deployment").main({"tests": {"passed": None, "note": "late"}, "functions": []})
    assert (tested["target"], untested["target"]) == ("production", "trial")
    assert untested["because"] == "late"


def test_the_scripts_run_in_the_sandbox_of_the_python_kind(tmp_path: Path) -> None:
    def run(name: str, inputs: dict[str, Any]) -> Any:
        code = (SCRIPTS / f"{name}.py").read_text()
        return run_code(PythonConfig(code=code, inputs=inputs), StorageContext(tmp_path))  # type: ignore[arg-type]

    invoices = perfect_invoices()
    orders = [row | {"unit_price": str(row["unit_price"])} for row in order_rows()]
    report = run("build_report", {"batch": BATCH, "invoices": invoices, "orders": orders})
    answer = {"data": {"corrections": report["proposed"]}}
    corrected = run("apply_corrections", {"invoices": invoices, "answer": answer, "proposed": []})
    payments = run(
        "format_payments",
        {
            "batch": BATCH,
            "invoices": corrected["documents"],
            "corrected": corrected["corrected"],
            "compliance": {"verdict": "passed", "findings": []},
        },
    )
    assert list(wrong_payments(payments["csv"])) == []
    requirements = run("gather_requirements", {"wish": "Greet the customer"})
    code = run("write_code", run("draw_design", requirements))
    assert run("run_tests", {**code, "takes_s": 0})["passed"] is True
