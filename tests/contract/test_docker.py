"""No engine runs here: the compose file is read by a parser of the Compose Specification, the rest is compared."""

import json
import re
from typing import Any

import pytest
import yaml
from compose_spec import PyCompose

from tests.contract import sources

COMPOSE = "docker/compose.yml"


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    """As the engine reads it: `<<` merged."""
    loaded: dict[str, Any] = yaml.safe_load(sources.text(COMPOSE))
    return loaded


def _parsed(compose: dict[str, Any]) -> PyCompose:
    """With the variables filled in, as the engine does before it looks."""
    text = re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", json.dumps(compose))
    return PyCompose.from_json(re.sub(r"\$\{\w+:\?[^}]*\}", "given", text))


def test_the_compose_file_is_one(compose: dict[str, Any]) -> None:
    parsed = _parsed(compose)
    parsed.validate()
    assert set(parsed.service_names()) == {"migrate", "web", "worker", "sweeper", "postgres", "redis"}


def test_the_parser_refuses_what_is_no_compose_file(compose: dict[str, Any]) -> None:
    broken = {**compose, "services": {**compose["services"], "web": {**compose["services"]["web"], "prots": ["1:1"]}}}
    with pytest.raises(ValueError, match="prots"):
        _parsed(broken)


def test_everything_that_stays_up_has_a_health_check(compose: dict[str, Any]) -> None:
    without = [name for name, service in compose["services"].items() if "healthcheck" not in service]
    assert without == ["migrate"]


def test_nothing_starts_before_what_it_needs_is_well(compose: dict[str, Any]) -> None:
    for name in ("web", "worker", "sweeper"):
        needs = compose["services"][name]["depends_on"]
        assert {one: need["condition"] for one, need in needs.items()} == {
            "migrate": "service_completed_successfully",
            "postgres": "service_healthy",
            "redis": "service_healthy",
        }


def test_no_secret_is_written_down_and_each_that_is_asked_for_is_explained(compose: dict[str, Any]) -> None:
    asked = set(re.findall(r"\$\{(\w+):\?", sources.text(COMPOSE)))
    explained = set(re.findall(r"^(\w+)=", sources.text("docker/env.example"), re.MULTILINE))
    assert asked == {"PAWL_DATABASE_PASSWORD", "PAWL_REDIS_PASSWORD", "PAWL_SECRET_KEY", "PAWL_ENCRYPTION_KEYS"}
    assert asked <= explained
    for service in compose["services"].values():
        for name, value in service.get("environment", {}).items():
            assert not re.search("PASSWORD|SECRET|KEYS|AUTH", name) or value.startswith("${"), name


def test_each_service_uses_a_command_of_the_entry_point(compose: dict[str, Any]) -> None:
    offered = set(re.findall(r"^(\w+)\)$", sources.text("docker/entrypoint.sh"), re.MULTILINE))
    assert offered == {"web", "worker", "sweeper", "migrate"}
    for name in offered:
        assert compose["services"][name]["command"] == [name]


def test_the_worker_of_the_image_loads_what_the_worker_of_make_run_loads() -> None:
    from config.services.run import DRAMATIQ_MODULES

    assert " ".join(DRAMATIQ_MODULES) in sources.text("docker/entrypoint.sh")


def test_the_image_holds_every_room_of_the_house() -> None:
    copied = set(re.findall(r"^COPY (\w+)/ \1/$", sources.text("docker/Dockerfile"), re.MULTILINE))
    assert copied == {*sources.ROOMS, "templates"}
    let_in = set(re.findall(r"^!(\w+)$", sources.text(".dockerignore"), re.MULTILINE))
    assert copied <= let_in


def test_the_image_runs_as_an_ordinary_user() -> None:
    last_stage = sources.text("docker/Dockerfile").rpartition("\nFROM ")[2]
    assert re.search(r"^USER pawl$", last_stage, re.MULTILINE)
