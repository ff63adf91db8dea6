"""What no file of the repository may name, and the locks."""

import re
import tomllib

from tests.contract import sources
from tests.contract.exceptions import check

# Joined here, so that this file does not name them either.
REGISTRIES = tuple(
    ".".join(parts)
    for parts in (
        ("pypi", "org"), ("pythonhosted", "org"), ("npmjs", "org"), ("npmjs", "com"), ("yarnpkg", "com"),
        ("debian", "org"),        ("npmmirror", "com"), ("jsdelivr", "net"), ("unpkg", "com"),
    )
)  # fmt: skip
MACHINE_PATHS = tuple(
    "/".join(parts) for parts in (("", "work", ""), ("", "root", ""), ("..", "shared"), ("", "opt", "wheels"))
)
_BINARY = (".png", ".jpg", ".jpeg", ".pdf", ".woff2", ".ico", ".zip", ".gz", ".webp", ".sqlite3")
_PIN = re.compile(r"^([A-Za-z0-9_.-]+)==", re.MULTILINE)


def test_no_file_names_a_package_registry() -> None:
    check("registries", _naming(REGISTRIES))


def test_no_file_names_a_path_of_somebodys_machine() -> None:
    check("machine paths", _naming(MACHINE_PATHS))


def test_each_lock_pins_every_package_that_was_asked_for_with_hashes() -> None:
    asked = {"run": ("core", "ocr"), "dev": ("core", "ocr", "dev"), "node": ("node",)}
    for lock, inputs in asked.items():
        text = sources.text(f"requirements/{lock}.txt")
        pinned = {_normal(name) for name in _PIN.findall(text)}
        for one in inputs:
            missing = _asked(f"requirements/{one}.in") - pinned
            assert not missing, f"requirements/{lock}.txt lacks {sorted(missing)}: run `make lock`"
        for block in re.split(r"^(?=[A-Za-z0-9])", text, flags=re.MULTILINE)[1:]:
            assert "--hash=sha256:" in block, f"no hash for {block.splitlines()[0]}"


def test_what_runs_is_what_was_tested() -> None:
    """The two locks agree on every package that both have."""
    run, dev = (_versions(sources.text(f"requirements/{lock}.txt")) for lock in ("run", "dev"))
    assert run.items() <= dev.items()


def test_every_package_of_ours_is_type_checked() -> None:
    settings = tomllib.loads(sources.text("pyproject.toml"))
    assert set(settings["tool"]["mypy"]["files"]) == set(sources.ROOMS)
    assert set(settings["tool"]["importlinter"]["root_packages"]) == set(sources.ROOMS)


def _naming(words: tuple[str, ...]) -> dict[str, str]:
    found = {}
    for name in sources.all_files():
        if not name.endswith(_BINARY):
            named = [word for word in words if word in sources.text(name)]
            if named:
                found[name] = f"names {named}"
    return found


def _asked(name: str) -> set[str]:
    lines = [line.partition("#")[0].strip() for line in sources.text(name).splitlines()]
    return {_normal(re.split(r"[\[<>=!~; ]", line)[0]) for line in lines if line and not line.startswith("-")}


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _versions(lock: str) -> dict[str, str]:
    return {_normal(name): version for name, version in re.findall(r"^([A-Za-z0-9_.-]+)==(\S+)", lock, re.MULTILINE)}
