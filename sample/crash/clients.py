"""The two doors that the crash demo knocks at: Pawl's API with a session, and the sample's servers with their token."""

import uuid
from collections import Counter
from typing import Any

import httpx

Row = dict[str, Any]


class DemoProblem(Exception):
    """The demo cannot go on; the message says where and why."""


class PawlClient:
    """Signs in like a browser: a session cookie, and the CSRF token in a header."""

    def __init__(self, base_url: str, *, workspace: str) -> None:
        self._http = httpx.Client(base_url=base_url, timeout=30, trust_env=False)
        self._base_url = base_url
        self._room = f"/api/workspaces/{workspace}"

    def is_up(self) -> bool:
        try:
            return self._http.get("/healthz").is_success
        except httpx.TransportError:
            return False

    def sign_in(self, email: str, password: str) -> None:
        self._http.get("/accounts/login/")
        form = {"login": email, "password": password, "csrfmiddlewaretoken": self._csrf()}
        answer = self._http.post(
            "/accounts/login/", data=form, headers={"Referer": f"{self._base_url}/accounts/login/"}
        )
        if not self._http.get("/api/session").is_success:
            raise DemoProblem(f"Signing in as {email} failed with status {answer.status_code}.")

    def get(self, path: str, **query: Any) -> Row:
        return _body(self._http.get(self._room + path, params=query))

    def post(self, path: str, body: Row) -> Row:
        headers = {"X-CSRFToken": self._csrf(), "Referer": self._base_url}
        return _body(self._http.post(self._room + path, json=body, headers=headers))

    def command(self, path: str, **body: Any) -> Row:
        return self.post(path, {"command_id": str(uuid.uuid4()), **body})

    def everything(self, path: str, **query: Any) -> list[Row]:
        """All pages of a list."""
        rows: list[Row] = []
        page = self.get(path, **query)
        rows += page["items"]
        while page.get("next"):
            page = self.get(path, **{**query, "cursor": page["next"]})
            rows += page["items"]
        return rows

    def _csrf(self) -> str:
        return self._http.cookies.get("csrftoken") or ""


class SampleClient:
    def __init__(self, base_url: str, *, token: str) -> None:
        bearer = {"Authorization": f"Bearer {token}"}
        self._http = httpx.Client(base_url=base_url, headers=bearer, timeout=30, trust_env=False)

    def is_up(self) -> bool:
        try:
            return self._http.get("/health").is_success
        except httpx.TransportError:
            return False

    def steer(self, what: str, **body: Any) -> None:
        _body(self._http.post(f"/admin/{what}", json=body))

    def arrivals(self) -> Counter[str]:
        """How many requests and mails came with each idempotency key."""
        rows = _body(self._http.get("/admin/received"))["received"]
        counts: Counter[str] = Counter()
        for row in rows:
            counts[row["key"]] += row["count"]
        return counts

    def stored(self, path: str) -> str:
        answer = self._http.get(f"/storage/{path}")
        return answer.text if answer.is_success else ""


def _body(answer: httpx.Response) -> Row:
    if not answer.is_success:
        where = f"{answer.request.method} {answer.request.url.path}"
        raise DemoProblem(f"{where} answered {answer.status_code}: {answer.text[:500]}")
    found: Row = answer.json()
    return found
