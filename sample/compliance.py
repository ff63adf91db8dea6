"""The policy service of the sample: the rules that a batch of invoices must pass before it is paid."""

import re
import threading
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

SECOND_SIGNATURE_FROM = Decimal(20_000)
CURRENCIES = frozenset({"EUR", "GBP", "USD", "CHF", "NOK"})
VAT_ID = re.compile(r"[A-Z]{2,3}[0-9A-Z]{7,14}")


def check(documents: list[Any]) -> dict[str, Any]:
    """The verdict on a batch: 'passed', 'passed_with_notes' or 'refused', with what was found."""
    findings = [finding for document in documents for finding in _findings(document)]
    refused = any(finding["severity"] == "stop" for finding in findings)
    verdict = "refused" if refused else "passed_with_notes" if findings else "passed"
    return {"verdict": verdict, "checked": len(documents), "findings": findings}


def _findings(document: Any) -> list[dict[str, str]]:
    if not isinstance(document, dict):
        return [_finding("?", "not_an_invoice", "An entry of `documents` is not an object.")]
    number = str(document.get("invoice_number", "?"))
    found = []
    if not VAT_ID.fullmatch(str(document.get("vat_id", ""))):
        found.append(_finding(number, "vat_id", "The VAT id has not the form of one."))
    if document.get("currency") not in CURRENCIES:
        found.append(_finding(number, "currency", "No account is kept in this currency."))
    total = _amount(document.get("total"))
    if total is None:
        found.append(_finding(number, "total", "The total is not an amount."))
    elif total >= SECOND_SIGNATURE_FROM:
        found.append(_finding(number, "second_signature", f"{total} needs a second signature.", severity="note"))
    return found


def _finding(invoice: str, rule: str, message: str, *, severity: str = "stop") -> dict[str, str]:
    return {"invoice_number": invoice, "rule": rule, "severity": severity, "message": message}


def _amount(value: Any) -> Decimal | None:
    try:
        amount = Decimal(str(value))
    except InvalidOperation:
        return None
    return amount if amount.is_finite() and amount >= 0 else None


@dataclass(frozen=True)
class Mood:
    """How the service answers just now: set by /admin/break, /admin/mend and /admin/slow."""

    broken_status: int | None = None
    slow_s: float = 0.0


class PolicyService:
    """Gives the same answer to the same idempotency key; can be broken, mended and made slow."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._answers: dict[str, dict[str, Any]] = {}
        self.mood = Mood()

    def answer(self, key: str, documents: list[Any]) -> dict[str, Any]:
        with self._lock:
            if key and key in self._answers:
                return {**self._answers[key], "repeated": True}
            answer = {**check(documents), "repeated": False}
            if key:
                self._answers[key] = answer
            return answer
