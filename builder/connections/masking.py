"""Masking of known secrets in everything that is kept or shown (promise P9). Pure.

A secret of 8 characters or more is found as it stands, and in its JSON, URL, base64 (all three alignments, both
alphabets) and hex forms; shorter ones would tear ordinary text apart. Each place becomes MARK. Where secrets overlap,
the whole stretch is one place. Asking a Masker costs one search of the text for each form, about 20 forms a secret.
"""

import json
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import quote, quote_plus

MARK = "••••"
LEAST = 8  # characters; a shorter secret is not masked

Span = tuple[int, int]


class Masker:
    """Masks one set of secrets. Truthy where it has any; without one, everything passes untouched."""

    def __init__(self, secrets: Iterable[str]) -> None:
        kept = {secret for secret in secrets if len(secret) >= LEAST}
        forms = {form for secret in kept for form in _forms(secret)}
        self._forms = sorted(forms, key=lambda form: (-len(form), form))
        self._forms_in_json = [_escaped(form) for form in self._forms]
        self._longest = len(self._forms[0]) if self._forms else 0

    def __bool__(self) -> bool:
        return bool(self._forms)

    def text(self, text: str) -> str:
        return _render(text, self.spans(text))

    def data(self, data: bytes) -> bytes:
        """Bytes of any kind, with the forms of secrets looked for in UTF-8; MARK stands there in UTF-8, too."""
        for form in self._forms:
            data = data.replace(form.encode("utf-8", "surrogatepass"), MARK.encode())
        return data

    def value(self, value: Any) -> Any:
        """A JSON value with every text, number and name in it masked; the same object where there is nothing to mask.

        Two names of one object that become equal are told apart by a number. Recursive: the depth limit of payloads
        holds before.
        """
        if not self._forms or not self._is_in_json(value):
            return value
        return self._walk(value)

    def is_in(self, chunks: Iterable[bytes]) -> bool:
        """Whether any form of a secret is in these bytes, also across the chunks' borders."""
        forms = [form.encode("utf-8", "surrogatepass") for form in self._forms]
        longest = max(map(len, forms), default=1)
        held = b""
        for chunk in chunks:
            held = held[max(0, len(held) - longest + 1) :] + chunk
            if any(form in held for form in forms):
                return True
        return False

    def stream(self) -> "MaskedStream":
        return MaskedStream(self)

    def _is_in_json(self, value: Any) -> bool:
        """Cheap, and never wrong with 'no': escaping goes by character, so an escaped text holds its parts escaped."""
        whole = json.dumps(value, ensure_ascii=False)
        return any(form in whole for form in self._forms_in_json)

    def _walk(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self._walk(each) for each in value]
        if isinstance(value, dict):
            return self._object(value)
        if isinstance(value, int | float) and not isinstance(value, bool) and self.spans(json.dumps(value)):
            return MARK
        return value

    def _object(self, value: dict[str, Any]) -> dict[str, Any]:
        masked: dict[str, Any] = {}
        for name, inner in value.items():
            shown = plain = self.text(name)
            number = 1
            while shown in masked:
                number += 1
                shown = f"{plain}{number}"
            masked[shown] = self._walk(inner)
        return masked

    def spans(self, text: str) -> list[Span]:
        """Where the text must be masked: sorted, and merged where they overlap."""
        return _merged(span for form in self._forms if form in text for span in _places(form, text))

    def open_end(self, text: str) -> int:
        """The first position from which the text could be the beginning of a form that goes on in the next chunk."""
        first = len(text)
        for form in self._forms:
            start = text.find(form[0], max(0, len(text) - len(form) + 1), first)
            while start != -1 and not form.startswith(text[start:]):
                start = text.find(form[0], start + 1, first)
            if start != -1:
                first = start
        return first


class MaskedStream:
    """Masks a text that comes in chunks, also across their borders. What `feed` and `end` return, put together, is what
    `Masker.text` makes of the whole. Only what may be the beginning of a secret is held back until the next chunk."""

    def __init__(self, masker: Masker) -> None:
        self._masker = masker
        self._held = ""
        self._told = 0  # characters at the beginning of _held whose MARK is out already

    def feed(self, chunk: str) -> str:
        if not self._masker:
            return chunk
        text = self._held + chunk
        return self._give(text, self._masker.open_end(text))

    def end(self) -> str:
        return self._give(self._held, len(self._held))

    def _give(self, text: str, upto: int) -> str:
        told = [(0, self._told)] if self._told else []
        spans = _merged([*told, *self._masker.spans(text)])
        ready = [(start, min(stop, upto)) for start, stop in spans if start < upto]
        out = _render(text[:upto], ready)
        begun = (stop for start, stop in spans if start < upto or (start == 0 and self._told))
        out = out.removeprefix(MARK) if self._told else out
        self._held, self._told = text[upto:], max(0, *begun, upto) - upto
        return out


def _places(form: str, text: str) -> Iterator[Span]:
    start = text.find(form)
    while start != -1:
        yield start, start + len(form)
        start = text.find(form, start + 1)


def _merged(spans: Iterable[Span]) -> list[Span]:
    merged: list[Span] = []
    for start, stop in sorted(spans):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(stop, merged[-1][1]))
        else:
            merged.append((start, stop))
    return merged


def _render(text: str, spans: list[Span]) -> str:
    if not spans:
        return text
    parts, done = [], 0
    for start, stop in spans:
        parts += [text[done:start], MARK]
        done = stop
    return "".join([*parts, text[done:]])


def _escaped(text: str, *, ascii_only: bool = False) -> str:
    return json.dumps(text, ensure_ascii=ascii_only)[1:-1]


def _forms(secret: str) -> Iterator[str]:
    raw = secret.encode("utf-8", "surrogatepass")
    yield secret
    for escaped in (_escaped(secret), _escaped(secret, ascii_only=True)):
        yield escaped
        yield escaped.replace("/", "\\/")
    for encoded in (quote(raw, safe=""), quote(raw), quote_plus(raw)):
        yield encoded
        yield _lower_escapes(encoded)
    for encode in (b64encode, urlsafe_b64encode):
        yield from _base64_cores(raw, encode)
    yield raw.hex()
    yield raw.hex().upper()


def _lower_escapes(encoded: str) -> str:
    head, *rest = encoded.split("%")
    return "%".join([head, *(part[:2].lower() + part[2:] for part in rest)])


def _base64_cores(raw: bytes, encode: Any) -> Iterator[str]:
    """What base64 makes of the secret within a longer text, for each of the three places it can begin at, without the
    characters at both ends that its neighbours have a share in."""
    for before in range(3):
        text = encode(b"\0" * before + raw).decode()
        first = (before * 8 + 5) // 6
        yield text[first : (before + len(raw)) * 8 // 6]
