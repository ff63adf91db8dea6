import json
import re
from pathlib import Path

import pytest
from django.core.cache import cache
from django.test import Client
from pytest_django.fixtures import Settings

from config import shell
from tests.people import user

pytestmark = pytest.mark.django_db

MANIFEST = {
    "src/app/main.tsx": {
        "file": "assets/main-AAAAAAAA.js",
        "isEntry": True,
        "imports": ["_shared.js"],
        "dynamicImports": ["src/lazy.tsx"],
        "css": ["assets/main-BBBBBBBB.css"],
    },
    "_shared.js": {"file": "assets/shared-CCCCCCCC.js", "css": ["assets/shared-DDDDDDDD.css"], "imports": ["_deep.js"]},
    "_deep.js": {"file": "assets/deep-EEEEEEEE.js", "imports": ["_shared.js"]},
    "src/lazy.tsx": {"file": "assets/lazy-FFFFFFFF.js", "css": ["assets/lazy-GGGGGGGG.css"]},
    "src/app/tokens.css": {"file": "assets/tokens-HHHHHHHH.css", "isEntry": True},
}


@pytest.fixture
def built(tmp_path: Path, settings: Settings) -> Path:
    settings.STATIC_ROOT = tmp_path
    file = tmp_path / "manifest.json"
    file.write_text(json.dumps(MANIFEST))
    return file


@pytest.fixture
def client() -> Client:
    cache.clear()
    client = Client()
    client.force_login(user("ana"))
    return client


def _nonce(policy: str) -> str:
    found = re.search(r"script-src [^;]*'nonce-([^']+)'", policy)
    assert found, policy
    return found[1]


@pytest.mark.parametrize("address", ["/", "/w/acme/workflows/1/edit", "/anything.at/all"])
def test_every_address_of_the_application_gets_the_same_page(built: Path, client: Client, address: str) -> None:
    response = client.get(address)
    page = response.content.decode()
    nonce = _nonce(response["content-security-policy"])
    assert f'<script type="module" src="/static/assets/main-AAAAAAAA.js" nonce="{nonce}"></script>' in page
    assert f'<meta name="csp-nonce" content="{nonce}">' in page
    assert re.findall(r'modulepreload" href="([^"]+)"', page) == [
        "/static/assets/deep-EEEEEEEE.js",
        "/static/assets/shared-CCCCCCCC.js",
    ]
    assert re.findall(r'stylesheet" href="(/static/assets[^"]+)"', page) == [
        "/static/assets/shared-DDDDDDDD.css",
        "/static/assets/main-BBBBBBBB.css",
    ]
    assert "no-store" in response["cache-control"]
    assert "csrftoken" in response.cookies


def test_no_inline_code_may_run_and_nobody_may_frame_us(built: Path, client: Client) -> None:
    response = client.get("/")
    policy = response["content-security-policy"]
    assert "unsafe" not in policy
    for rule in ("default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'"):
        assert rule in policy
    assert response["x-frame-options"] == "DENY"
    assert response["x-content-type-options"] == "nosniff"
    assert response["referrer-policy"] == "same-origin"
    assert _nonce(policy) != _nonce(client.get("/")["content-security-policy"]), "a nonce is for one answer"


def test_a_new_build_is_seen_without_a_restart(built: Path, client: Client) -> None:
    client.get("/")
    changed = MANIFEST | {"src/app/main.tsx": {"file": "assets/main-ZZZZZZZZ.js"}}
    built.write_text(json.dumps(changed))
    import os

    os.utime(built, ns=(1, 1))
    assert "main-ZZZZZZZZ.js" in client.get("/").content.decode()


def test_without_a_build_the_page_says_what_to_do(tmp_path: Path, settings: Settings, client: Client) -> None:
    settings.STATIC_ROOT = settings.BASE_DIR = tmp_path
    response = client.get("/")
    assert response.status_code == 503
    assert "npm run build" in response.content.decode()


def test_the_sign_in_page_shares_the_tokens_where_they_are_built(
    tmp_path: Path, built: Path, settings: Settings
) -> None:
    assert "/static/assets/tokens-HHHHHHHH.css" in Client().get("/accounts/login/").content.decode()
    settings.STATIC_ROOT = settings.BASE_DIR = tmp_path / "nothing"
    assert "tokens" not in Client().get("/accounts/login/").content.decode()


def test_the_manifest_of_a_chunk_without_styles_is_read(built: Path) -> None:
    found = shell.assets({shell.ENTRY: {"file": "a.js"}})
    assert (found.script, found.preloads, found.styles) == ("/static/a.js", (), ())


def test_static_files_are_served_with_their_type() -> None:
    response = Client().get("/static/pawl/pages.css")
    assert response.status_code == 200
    assert response["content-type"].startswith("text/css")
    assert Client().get("/static/pawl/nothing.css").status_code == 404
