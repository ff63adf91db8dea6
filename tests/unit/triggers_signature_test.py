import hashlib

import pytest

from runs.triggers.signature import BadSignature, check_bearer, check_body, check_timestamped, digest, signed

SECRET, BODY, NOW = "whsec_test", b'{"a": 1}', 1_700_000_000


def check(given: str, *, body: bytes = BODY, now: float = NOW, secret: str = SECRET) -> bytes:
    return check_timestamped(given, body, secret=secret, now=now, tolerance_s=300)


def test_what_was_signed_just_now_is_taken() -> None:
    given = signed(SECRET, BODY, at=NOW)
    assert check(given) == check(f" {given} ") == hashlib.sha256(f"{NOW}.".encode() + BODY).digest()
    assert check(given, now=NOW + 300) == check(given, now=NOW - 300)


def test_the_second_of_two_signatures_may_be_the_right_one() -> None:
    right = signed(SECRET, BODY, at=NOW).partition(",")[2]
    assert check(f"t={NOW},v1={'0' * 64},{right}") == check(f"t={NOW},{right},v1={'1' * 64}")


@pytest.mark.parametrize(
    "given",
    [
        "",
        "t=1700000000",
        "v1=" + "0" * 64,
        f"t={NOW},v1=" + "0" * 64,
        f"t={NOW},v1=" + "0" * 63,
        f"t={NOW}x,v1=" + "0" * 64,
        "t=-1,v1=" + "0" * 64,
        "t=" + "9" * 13 + ",v1=" + "0" * 64,
        signed("another secret", BODY, at=NOW),
        signed(SECRET, BODY + b" ", at=NOW),
        signed(SECRET, BODY, at=NOW).replace(f"t={NOW}", f"t={NOW + 1}"),
        "t=\u0661\u0667,v1=" + "0" * 64,  # digits, but not ours
    ],
)
def test_anything_else_is_refused(given: str) -> None:
    with pytest.raises(BadSignature):
        check(given)


@pytest.mark.parametrize("now", [NOW + 301, NOW - 301])
def test_an_old_signature_or_one_from_the_future_is_refused(now: float) -> None:
    with pytest.raises(BadSignature, match="300 s ago or ahead"):
        check(signed(SECRET, BODY, at=NOW), now=now)


def test_a_signature_of_the_body_alone_is_taken_in_both_spellings() -> None:
    check_body("sha256=" + digest(SECRET, BODY), BODY, secret=SECRET)
    check_body(digest(SECRET, BODY), BODY, secret=SECRET)
    for wrong in ("", "sha1=" + "0" * 40, "sha256=" + digest("another", BODY), digest(SECRET, BODY) + "0"):
        with pytest.raises(BadSignature):
            check_body(wrong, BODY, secret=SECRET)


def test_a_bearer_shows_the_secret_itself() -> None:
    check_bearer({"authorization": f"Bearer {SECRET}"}, secret=SECRET)
    check_bearer({"authorization": f"bearer {SECRET}"}, secret=SECRET)
    for wrong in ("", SECRET, "Basic x", "Bearer", f"Bearer {SECRET}x", "Bearer \u00fc"):
        with pytest.raises(BadSignature):
            check_bearer({"authorization": wrong} if wrong else {}, secret=SECRET)
