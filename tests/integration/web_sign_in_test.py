import re

import pytest
from django.core.cache import cache
from django.test import Client

from teams.access import SYSTEM
from teams.models import AuditRecord
from teams.services import create_user
from tests.people import PASSWORD

pytestmark = pytest.mark.django_db
LOGIN = "/accounts/login/"


@pytest.fixture(autouse=True)
def _fresh_limits() -> None:
    cache.clear()  # the rate limits' counters


@pytest.fixture
def ana() -> str:
    return create_user(actor=SYSTEM, email="ana@example.com", name="Ana", password=PASSWORD).email


def test_whoever_is_not_signed_in_is_led_to_sign_in_and_back() -> None:
    response = Client().get("/w/acme/runs?status=failed")
    assert response.status_code == 302
    assert response["location"] == "/accounts/login/?next=/w/acme/runs%3Fstatus%3Dfailed"


def test_a_person_signs_in_by_e_mail_and_out_again(ana: str) -> None:
    client = Client(enforce_csrf_checks=True)
    page = client.get(f"{LOGIN}?next=/w/acme").content.decode()
    token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page)
    assert token
    form = {"login": ana.upper(), "password": PASSWORD, "next": "/w/acme", "csrfmiddlewaretoken": token[1]}
    response = client.post(LOGIN, form)
    assert (response.status_code, response["location"]) == (302, "/w/acme")
    assert client.get("/api/session").json()["user"]["email"] == ana
    record = AuditRecord.objects.get(action="user.sign_in")
    assert (record.actor_name, record.data) == ("Ana", {"from": "127.0.0.1"})

    assert client.get("/accounts/logout/").status_code == 200
    assert client.get("/api/session").status_code == 200, "a GET signs nobody out"
    token = client.cookies["csrftoken"].value
    assert client.post("/accounts/logout/", {"csrfmiddlewaretoken": token})["location"] == LOGIN
    assert client.get("/api/session").status_code == 401


@pytest.mark.parametrize("email", ["ana@example.com", "nobody@example.com"])
def test_a_wrong_password_and_an_unknown_person_look_the_same(ana: str, email: str) -> None:
    response = Client().post(LOGIN, {"login": email, "password": "wrong"})
    page = response.content.decode()
    assert response.status_code == 200
    assert "The email address and/or password you specified are not correct." in page
    assert 'role="alert"' in page


def test_guessing_a_password_is_slowed_down(ana: str) -> None:
    client = Client()
    for _ in range(6):
        client.post(LOGIN, {"login": ana, "password": "wrong"})
    response = client.post(LOGIN, {"login": ana, "password": PASSWORD})
    assert response.status_code == 200
    assert "Too many failed login attempts" in response.content.decode()


def test_nobody_makes_an_account_alone() -> None:
    client = Client()
    assert "Accounts are made for you" in client.get("/accounts/signup/").content.decode()
    response = client.post(
        "/accounts/signup/", {"email": "eve@example.com", "password1": PASSWORD, "password2": PASSWORD}
    )
    assert "Accounts are made for you" in response.content.decode()


def test_without_a_mail_server_no_page_promises_mail(ana: str) -> None:
    assert "Forgot" not in Client().get(LOGIN).content.decode()
    client = Client()
    client.post(LOGIN, {"login": ana, "password": PASSWORD})
    assert client.get("/accounts/password/reset/").status_code == 404
    assert client.get("/accounts/email/").status_code == 404
    assert client.get("/accounts/password/change/").status_code == 200


def test_a_changed_password_is_the_one_that_counts(ana: str) -> None:
    client = Client()
    client.post(LOGIN, {"login": ana, "password": PASSWORD})
    form = {"oldpassword": PASSWORD, "password1": "another-good-phrase-9", "password2": "another-good-phrase-9"}
    assert client.post("/accounts/password/change/", form).status_code == 302
    assert client.get("/api/session").status_code == 200
    assert Client().post(LOGIN, {"login": ana, "password": PASSWORD}).status_code == 200
    assert Client().post(LOGIN, {"login": ana, "password": "another-good-phrase-9"}).status_code == 302


def test_sign_in_never_leads_to_another_site(ana: str) -> None:
    form = {"login": ana, "password": PASSWORD, "next": "https://evil.example.com/"}
    assert Client().post(LOGIN, form)["location"] == "/"


def test_every_field_has_its_label(ana: str) -> None:
    page = Client().get(LOGIN).content.decode()
    ids = set(re.findall(r'<input type="(?:email|password|text|checkbox)"[^>]* id="([^"]+)"', page))
    assert ids == set(re.findall(r'<label for="([^"]+)"', page))
    assert '<html lang="en">' in page


def test_the_session_cookie_is_out_of_a_scripts_reach(ana: str) -> None:
    client = Client()
    response = client.post(LOGIN, {"login": ana, "password": PASSWORD})
    (cookie,) = [each for name, each in response.cookies.items() if name.startswith("pawl_session_")]
    assert cookie["httponly"]
    assert cookie["samesite"] == "Lax"
