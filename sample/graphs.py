"""The sample's workflows as graph documents (builder/graph/model.py says what their fields mean)."""

from itertools import pairwise
from pathlib import Path
from typing import Any

Document = dict[str, Any]

API, DATABASE, MAILBOX = "sample-api", "sample-database", "sample-mailbox"  # names of the connections
SCRIPTS = Path(__file__).parent / "scripts"

# The twelve steps, in their order: step 8 is 'compliance'.
INVOICE_STEPS = (
    "fetch", "parse", "ocr_documents", "cross_reference", "report", "review", "corrections", "compliance", "format",
    "upload", "notify", "archive",
)  # fmt: skip
TITLES = {
    "start": "Start",
    "fetch": "1 Fetch the batch",
    "parse": "2 Parse and validate",
    "ocr_documents": "3 Read each document",
    "download": "Download",
    "read": "Read the text",
    "cross_reference": "4 Look up the orders",
    "review": "6 Review",
    "rejected": "Rejected",
    "compliance": "8 Compliance check",
    "upload": "10 Upload",
    "notify": "11 Notify",
    "archive": "12 Archive",
    "output": "Output",
    "release_note": "Release note (skipped without tests)",
    "announcement": "Announcement (waits for the tests)",
    "extract": "Find the fields",
    "report": "5 Intermediate report",
    "corrections": "7 Apply corrections",
    "format": "9 Format the payments",
    "requirements": "Requirements",
    "design": "Design",
    "coding": "Coding",
    "testing": "Testing",
    "deployment": "Deployment",
}
INVOICES_NAME = "Supplier invoices"
AGENTS_NAME = "Agents hand work on"
_COLUMN, _BESIDE = 288, 96

BATCH_SCHEMA = {
    "type": "object",
    "required": ["batch", "documents"],
    "properties": {
        "batch": {"type": "string"},
        "documents": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "required": ["id", "name", "url", "media_type", "sha256"],
                "properties": {
                    "name": {"type": "string", "pattern": "^[A-Za-z0-9._-]+$"},
                    "url": {"type": "string", "pattern": "^https?://"},
                    "media_type": {"enum": ["image/png", "application/pdf"]},
                },
            },
        },
    },
}
ORDERS_STATEMENT = """select o.po_number, o.supplier, o.currency, l.position, l.description, l.quantity, l.unit_price
from purchase_orders o join purchase_order_lines l on l.po_number = o.po_number
where o.batch = :batch order by o.po_number, l.position"""
REVIEW = """{{ steps.report.output.text }}

To approve is to accept the corrections below, unless the answer brings others."""
SUMMARY = """{{ steps.format.output.summary }}

The payment file is at {{ steps.upload.output.body.path }}.
Run {{ run.number }}"""


def _script(name: str) -> str:
    return (SCRIPTS / f"{name}.py").read_text()


def _node(key: str, kind: str, config: Document, **more: Any) -> Document:
    return {
        "id": f"n_{key}", "key": key, "kind": kind, "name": TITLES[key], "config": config,
        "policy": more.pop("policy", {}), "parent": None, "position": {"x": 0, "y": 0}, **more,
    }  # fmt: skip


def _python(key: str, script: str, inputs: Document, **more: Any) -> Document:
    return _node(key, "python", {"code": _script(script), "inputs": inputs}, **more)


def _edge(source: str, target: str, port: str = "out") -> Document:
    return {
        "id": f"e_{source}_{port}_{target}", "source": f"n_{source}", "source_port": port, "target": f"n_{target}",
    }  # fmt: skip


def _placed(nodes: list[Document], rows: dict[int, list[str]], others: dict[str, tuple[int, int]]) -> list[Document]:
    """`rows` by their top, of keys from left to right: three in a row can be read on a laptop. `others` stand apart."""
    found = {key: (x * _COLUMN, y) for y, row in rows.items() for x, key in enumerate(row)} | others
    for node in nodes:
        node["position"] = dict(zip(("x", "y"), found[node["key"]], strict=True))
    return nodes


def _patient(attempts: int, *, first_delay_s: float = 1.0) -> Document:
    return {"retry": {"attempts": attempts, "first_delay_s": first_delay_s, "factor": 2, "max_delay_s": 30}}


# ------------------------------------------------------------------ supplier invoices


def _reading() -> list[Document]:
    return [
        _node("start", "start", {
            "input_schema": {
                "type": "object",
                "required": ["batch"],
                "properties": {"batch": {"type": "string", "title": "Batch", "default": "2026-03"}},
            }
        }),
        _node("fetch", "http_request", {
            "connection": API, "method": "GET", "url": "/batches/{{ run.input.batch }}",
        }, policy=_patient(3)),
        _node("parse", "validate", {
            "value": "{{ steps.fetch.output.body }}", "json_schema": BATCH_SCHEMA,
        }),
        _node("ocr_documents", "map", {
            "items": "{{ steps.parse.output.value.documents }}", "window": 4,
        }),
        _node("download", "http_request", {
            "connection": API, "method": "GET", "url": "{{ item.url }}", "response_type": "file",
            "save_to": "batches/{{ run.id }}/{{ item.name }}",
        }, parent="n_ocr_documents", policy=_patient(3)),
        _node("read", "ocr", {
            "files": "{{ steps.download.output.file.path }}", "dpi": 110,
        }, parent="n_ocr_documents"),
        _python("extract", "extract_fields", {
            "document": "{{ item }}", "text": "{{ steps.read.output.text }}",
        }, parent="n_ocr_documents"),
    ]  # fmt: skip


def _deciding() -> list[Document]:
    return [
        _node("cross_reference", "sql", {
            "connection": DATABASE, "statement": ORDERS_STATEMENT, "parameters": {"batch": "{{ run.input.batch }}"},
        }, policy=_patient(3)),
        _python("report", "build_report", {
            "batch": "{{ run.input.batch }}", "invoices": "{{ steps.ocr_documents.output }}",
            "orders": "{{ steps.cross_reference.output.rows }}",
        }),
        _node("review", "approval", {
            "title": "Pay the invoices of batch {{ run.input.batch }}?", "message": REVIEW,
            "data": {"corrections": "{{ steps.report.output.proposed }}"},
            "note_prompt": "Anything the buyers should know?",
        }),
        _node("rejected", "fail", {
            "code": "review_rejected",
            "message": "The reviewer rejected the batch: {{ steps.review.output.comment or 'no comment' }}",
        }),
        _python("corrections", "apply_corrections", {
            "invoices": "{{ steps.ocr_documents.output }}", "answer": "{{ steps.review.output }}",
            "proposed": "{{ steps.report.output.proposed }}",
        }),
        _node("compliance", "http_request", {
            "connection": API, "method": "POST", "url": "/compliance/check", "body_type": "json",
            "body": {"documents": "{{ steps.corrections.output.documents }}"},
        }),
    ]  # fmt: skip


def _delivering() -> list[Document]:
    return [
        _python("format", "format_payments", {
            "batch": "{{ run.input.batch }}", "invoices": "{{ steps.corrections.output.documents }}",
            "corrected": "{{ steps.corrections.output.corrected }}", "compliance": "{{ steps.compliance.output.body }}",
        }),
        _node("upload", "http_request", {
            "connection": API, "method": "PUT", "url": "/storage/payments/{{ run.input.batch }}/{{ run.id }}.csv",
            "headers": {"Content-Type": "text/csv; charset=utf-8"}, "body_type": "text",
            "body": "{{ steps.format.output.csv }}",
        }, policy=_patient(3)),
        _node("notify", "email", {
            "connection": MAILBOX, "to": ["finance@acme.example", "buyers@acme.example"],
            "subject": "Batch {{ run.input.batch }} is ready to be paid (run {{ run.number }})", "text": SUMMARY,
        }, policy=_patient(3)),
        _node("archive", "archive", {
            "path": "archive/{{ run.input.batch }}/{{ run.id }}.zip", "files": ["batches/{{ run.id }}"],
            "entries": {
                "report.txt": "{{ steps.report.output.text }}",
                "review.json": "{{ steps.review.output }}",
                "invoices.json": "{{ steps.corrections.output.documents }}",
                "compliance.json": "{{ steps.compliance.output.body }}",
                "payments.csv": "{{ steps.format.output.csv }}",
                "mail.json": "{{ steps.notify.output }}",
            },
        }),
        _node("output", "output", {
            "value": {
                "summary": "{{ steps.format.output.summary }}", "payments": "{{ steps.upload.output.body.path }}",
                "archive": "{{ steps.archive.output.path }}",
            }
        }),
    ]  # fmt: skip


def supplier_invoices() -> Document:
    chain = ["start", *INVOICE_STEPS[:6]]
    tail = [*INVOICE_STEPS[6:], "output"]
    edges = [_edge(source, target) for source, target in pairwise(chain)]
    edges += [_edge("download", "read"), _edge("read", "extract")]
    edges += [_edge("review", "corrections", "approved"), _edge("review", "rejected", "rejected")]
    edges += [_edge(source, target) for source, target in pairwise(tail)]
    rows = {
        0: ["start", "fetch", "parse"],
        120: ["ocr_documents"],
        328: ["cross_reference", "report"],
        448: ["review"],
        664: ["format", "upload", "notify"],
        784: ["archive", "output"],
    }
    body = {key: (24 + 264 * number, 64) for number, key in enumerate(("download", "read", "extract"))}
    # Level with the port 'approved', so that its edge runs straight below its word.
    beside = {"corrections": (_COLUMN, 440), "compliance": (2 * _COLUMN, 440), "rejected": (_COLUMN, 544)}
    nodes = _placed([*_reading(), *_deciding(), *_delivering()], rows, {**body, **beside})
    return {"schema": 1, "nodes": nodes, "edges": edges}


# ------------------------------------------------------------------ agents that hand work on

_UNTESTED = {"passed": None, "note": "the tests did not end in time"}


_WISH = {
    "type": "object",
    "required": ["wish"],
    "properties": {
        "wish": {"type": "string", "title": "What should be built?", "default": "A calculator for VAT"},
        "testing_takes_s": {"type": "number", "title": "How long testing takes, in s", "default": 10},
    },
}


def agents() -> Document:
    """Testing runs into its limit, twice. Then: deployment goes on with a default, the release note is skipped, and the
    announcement waits for a person to mend what failed.
    """
    nodes = [
        _node("start", "start", {"input_schema": _WISH}),
        _python("requirements", "gather_requirements", {"wish": "{{ run.input.wish }}"}),
        _python("design", "draw_design", {
            "requirements": "{{ steps.requirements.output.requirements }}",
        }),
        _python("coding", "write_code", {"functions": "{{ steps.design.output.functions }}"}),
        _python("testing", "run_tests", {
            "source": "{{ steps.coding.output.source }}", "functions": "{{ steps.coding.output.functions }}",
            "takes_s": "{{ run.input.testing_takes_s | default(10) }}",
        }, policy={**_patient(2), "limit_s": 3}),
        _python("deployment", "plan_deployment", {
            "tests": "{{ steps.testing.output }}", "functions": "{{ steps.coding.output.functions }}",
        }, policy={"on_upstream_failure": "default", "default": _UNTESTED}),
        _node("release_note", "template", {
            "name": "release.md", "text": "Tested: {{ steps.testing.output.results | length }} functions.",
        }, policy={"on_upstream_failure": "skip"}),
        _node("announcement", "template", {
            "text": "Released: {{ steps.coding.output.functions | join(', ') }}.",
        }, policy={"on_upstream_failure": "wait"}),
        _node("output", "output", {"value": "{{ steps.deployment.output }}"}),
    ]  # fmt: skip
    chain = ["start", "requirements", "design", "coding", "testing", "deployment", "output"]
    edges = [_edge(source, target) for source, target in pairwise(chain)]
    edges += [_edge("testing", "release_note"), _edge("testing", "announcement")]
    rows = {0: chain[:3], 120: chain[3:6], 432: chain[6:]}
    beside = {
        key: (2 * _COLUMN, 120 + _BESIDE * number) for number, key in enumerate(("release_note", "announcement"), 1)
    }
    return {"schema": 1, "nodes": _placed(nodes, rows, beside), "edges": edges}
