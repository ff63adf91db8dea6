from pathlib import Path

from cryptography.fernet import Fernet

from config.services.keys import Keys


def test_a_secret_is_made_once_and_only_its_owner_may_read_it(tmp_path: Path) -> None:
    keys = Keys(tmp_path / "keys")
    first = keys.get("secret")
    assert len(first) >= 24
    assert Keys(tmp_path / "keys").get("secret") == first
    assert keys.get("other") != first
    assert (tmp_path / "keys" / "secret").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "keys").stat().st_mode & 0o777 == 0o700


def test_the_encryption_key_is_one_that_fernet_takes(tmp_path: Path) -> None:
    box = Fernet(Keys(tmp_path).get("encryption"))
    assert box.decrypt(box.encrypt(b"text")) == b"text"
