"""The sample's outside world: real sockets, real mails."""

import json
import shutil
import smtplib
from collections.abc import Iterator
from dataclasses import dataclass
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import httpx
import pytest

from config.services.ports import LOOPBACK, free_port
from sample.documents import make_documents
from sample.mailbox import NoSuchMail, keep_mail, list_mails, read_mail
from sample.services import running_services
from sample.state import Address, BadAddress, SampleState, parse_address


@dataclass(frozen=True)
class Outside:
    state: SampleState
    http: Address
    smtp: Address

    def client(self, token: str | None = None) -> httpx.Client:
        bearer = {"Authorization": f"Bearer {self.state.token if token is None else token}"}
        return httpx.Client(base_url=f"http://{self.http}", headers=bearer, timeout=10, trust_env=False)

    def received(self) -> list[dict[str, Any]]:
        with self.client() as client:
            rows: list[dict[str, Any]] = client.get("/admin/received").json()["received"]
        return rows

    def send(self, key: str, *, password: str | None = None, text: str = "All is well.") -> None:
        message = EmailMessage()
        message["From"], message["To"], message["Subject"] = "a@acme.example", "b@acme.example", "Batch"
        message["Message-ID"], message["Idempotency-Key"] = f"<{key}@pawl>", key
        message.set_content(text)
        message.add_alternative("<script>alert(1)</script>", subtype="html")
        with smtplib.SMTP(self.smtp.host, self.smtp.port, timeout=10) as server:
            server.login("pawl", self.state.token if password is None else password)
            server.send_message(message)


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_documents(tmp_path_factory.mktemp("documents")).parent


@pytest.fixture
def outside(tmp_path: Path, documents: Path) -> Iterator[Outside]:
    shutil.copytree(documents, tmp_path / "documents")
    http = Address(LOOPBACK, free_port())
    smtp = Address(LOOPBACK, free_port(taken=[http.port]))
    found = Outside(SampleState(tmp_path), http, smtp)
    with running_services(found.state, http=http, smtp=smtp):
        yield found


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", "/batches/2026-03"), ("POST", "/compliance/check"), ("PUT", "/storage/a"), ("GET", "/admin/received")],
)
def test_a_stranger_without_the_token_is_refused_and_not_counted(outside: Outside, method: str, path: str) -> None:
    with outside.client(token="wrong") as stranger:
        assert stranger.request(method, path, content=b"{}").status_code == 401
    assert outside.received() == []


def test_a_batch_lists_twelve_documents_that_can_be_fetched(outside: Outside) -> None:
    with outside.client() as client:
        documents = client.get("/batches/2026-03").json()["documents"]
        assert len(documents) == 12
        first = client.get(documents[0]["url"])
    assert first.headers["content-type"] == "image/png"
    assert len(first.content) == documents[0]["bytes"]


def test_nothing_but_documents_and_stored_files_can_be_read(outside: Outside) -> None:
    with outside.client() as client:
        for path in ("/documents/truth.json", "/documents/..%2Ftoken", "/storage/..%2Ftoken", "/batches/1999-01"):
            assert client.get(path).status_code in (400, 404), path
        assert client.put("/storage/%2E%2E%2Ftoken", content=b"x").status_code == 400
    assert len(outside.state.token) > 30


def test_arrivals_are_counted_by_idempotency_key_and_survive_a_restart(outside: Outside) -> None:
    with outside.client() as client:
        for key in ("k1", "k1", "k2"):
            client.put("/storage/a/b.txt", content=b"hello", headers={"Idempotency-Key": key})
        assert client.get("/storage/a/b.txt").content == b"hello"
    counts = {row["key"]: row["count"] for row in outside.received() if row["method"] == "PUT"}
    assert counts == {"k1": 2, "k2": 1}
    again = SampleState(outside.state.folder)
    assert {row["key"]: row["count"] for row in again.received.rows() if row["method"] == "PUT"} == counts
    assert again.token == outside.state.token


def test_the_policy_service_breaks_and_mends_and_repeats_its_answer_to_the_same_key(outside: Outside) -> None:
    invoice = {"invoice_number": "A-1", "vat_id": "DE811907980", "currency": "EUR", "total": "25000.00"}
    ask = {"json": {"documents": [invoice]}, "headers": {"Idempotency-Key": "run:compliance"}}
    with outside.client() as client:
        client.post("/admin/break", json={"status": 503})
        assert client.post("/compliance/check", **ask).status_code == 503
        client.post("/admin/mend")
        first, second = (client.post("/compliance/check", **ask).json() for _ in range(2))
    assert first["verdict"] == "passed_with_notes"
    assert first["findings"][0]["rule"] == "second_signature"
    assert (first["repeated"], second["repeated"]) == (False, True)


@pytest.mark.parametrize(
    ("changed", "rule"),
    [
        ({"vat_id": "??"}, "vat_id"),
        ({"currency": "XXX"}, "currency"),
        ({"total": "NaN"}, "total"),
        ({"total": -1}, "total"),
    ],
)
def test_the_policy_service_refuses_what_breaks_a_rule(outside: Outside, changed: dict[str, Any], rule: str) -> None:
    invoice = {"invoice_number": "A-1", "vat_id": "DE811907980", "currency": "EUR", "total": "10.00", **changed}
    with outside.client() as client:
        answer = client.post("/compliance/check", json={"documents": [invoice, "not an object"]}).json()
    assert answer["verdict"] == "refused"
    assert {finding["rule"] for finding in answer["findings"]} == {rule, "not_an_invoice"}


@pytest.mark.parametrize("body", [b"{", b"[]", b'{"documents": 3}'])
def test_a_body_that_cannot_be_read_is_refused_and_counted(outside: Outside, body: bytes) -> None:
    with outside.client() as client:
        assert client.post("/compliance/check", content=body).status_code == 400
    assert [row["count"] for row in outside.received()] == [1]


def test_a_mail_is_kept_counted_and_shown_without_its_html(outside: Outside) -> None:
    outside.send("run:notify")
    outside.send("run:notify")
    [row] = outside.received()
    assert (row["method"], row["key"], row["count"]) == ("MAIL", "run:notify", 2)
    newest = list_mails(outside.state.mails)[0]
    opened = read_mail(outside.state.mails, newest.id)
    assert opened.text.strip() == "All is well."
    assert opened.has_html
    assert "script" not in json.dumps(opened.text)


def test_a_wrong_password_sends_no_mail_and_none_at_all_neither(outside: Outside) -> None:
    with pytest.raises(smtplib.SMTPAuthenticationError):
        outside.send("k", password="wrong")
    server = smtplib.SMTP(outside.smtp.host, outside.smtp.port, timeout=10)
    with server, pytest.raises(smtplib.SMTPDataError, match="Sign in"):
        server.sendmail("a@acme.example", ["b@acme.example"], "Subject: x")
    assert list_mails(outside.state.mails) == []


@pytest.mark.parametrize("mail_id", ["", "../token", "..%2Ftoken", "0" * 19 + "-00000000", "a" * 4000])
def test_only_a_mail_of_the_mailbox_can_be_opened(tmp_path: Path, mail_id: str) -> None:
    with pytest.raises(NoSuchMail):
        read_mail(tmp_path, mail_id)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff\xfe\x00",
        b"Subject: =?unknown-8bit?q?=ff?=\r\nFrom: <<>>,@\r\n\r\n\xff",
        b"Content-Type: text/plain; charset=nonsense\r\nSubject: a\r\n b\r\n\r\nhi \xff",
        (
            b"Content-Type: multipart/mixed; boundary=x\r\n\r\n"
            b"--x\r\nContent-Disposition: attachment; filename=../../a\r\n\r\n"
        ),
    ],
)
def test_a_broken_mail_is_shown_as_far_as_it_can_be(tmp_path: Path, content: bytes) -> None:
    mail_id = keep_mail(tmp_path, content)
    opened = read_mail(tmp_path, mail_id)
    assert opened.mail.id == list_mails(tmp_path)[0].id == mail_id
    assert all(character.isprintable() for character in opened.mail.subject)


@pytest.mark.parametrize("text", ["8765", "host:", ":80", "host:99999", "host:x"])
def test_an_address_that_is_none_is_refused_with_its_variable_s_name(text: str) -> None:
    with pytest.raises(BadAddress, match="PAWL_SAMPLE_HTTP"):
        parse_address(text, name="PAWL_SAMPLE_HTTP")
