"""Files that attempts make: kept by content with their step run, downloaded, refused, swept."""

import asyncio
import hashlib
import json
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from builder.connections.masking import Masker
from builder.graph.model import Policy, Retry
from runs import artifacts as files
from runs.engine import artifacts as engine
from runs.engine.artifacts import keep_artifact, sweep_files
from runs.engine.checkpoint import FencedOut
from runs.engine.retention import Housekeeping
from runs.models import Artifact, ArtifactFile, StepRun
from teams.models import Role
from tests.engine import World
from tests.hands import Hand
from tests.people import cast
from tests.staging import age, begun, lose

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("extra_kinds")]

ONCE = Policy()
AGAIN = Policy(retry=Retry(attempts=2, first_delay_s=0))


@pytest.fixture(autouse=True)
def artifact_root(settings: Any, tmp_path: Path) -> Path:
    settings.ARTIFACT_ROOT = tmp_path / "artifacts"
    settings.ARTIFACT_LIMIT_BYTES = 2 * 1024 * 1024
    return tmp_path / "artifacts"


def ran(world: World, kind: str, value: Any, *, policy: Policy = ONCE) -> StepRun:
    version = world.draw("S > A", kinds={"A": f"test_{kind}"}, configs={"A": {"value": value}}, policies={"A": policy})
    run_id = world.start(version).run_id
    world.work()
    world.sweep()
    world.work()
    return StepRun.objects.get(run_id=run_id, path="A")


def content(world: World, artifact: Artifact) -> bytes:
    return files.place_of(world.workspace.id, bytes(artifact.file.sha256)).read_bytes()


def stage(world: World, text: str) -> dict[str, str]:
    place = files.staged(world.workspace.id, "a1")
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text)
    return {"file": "a1", "media_type": "text/plain"}


def keep(world: World, hand: Hand, held: Any, text: str) -> dict[str, Any]:
    return keep_artifact(hand.link.retry, held, name="a.txt", staged=stage(world, text))


# ---------------------------------------------------------------------- kept


def test_a_file_is_kept_with_its_step_and_its_attempt(world: World, artifact_root: Path) -> None:
    step = ran(world, "make_artifacts", {"again.txt": "one", "b.csv": "two"}, policy=AGAIN)
    found = list(Artifact.objects.filter(step_run=step).select_related("file").order_by("id"))
    kinds = [("again.txt", "text/plain"), ("b.csv", "text/csv")]
    shown = [(each.attempt, each.name, each.media_type) for each in found]
    assert shown == [(number, *kind) for number in (1, 2) for kind in kinds]
    assert [content(world, each) for each in found] == [b"one", b"two"] * 2
    assert ArtifactFile.objects.count() == 2
    assert json.loads(step.output or "")[1] == {
        "name": "b.csv", "media_type": "text/csv", "size": 3, "sha256": hashlib.sha256(b"two").hexdigest(),
    }  # fmt: skip
    assert list(artifact_root.glob("*/incoming/*")) == []


@pytest.mark.parametrize(
    ("value", "code"),
    [
        ("outside", "artifact_outside"),
        ("link", "artifact_outside"),
        ("folder", "artifact_outside"),
        ("missing", "artifact_missing"),
        ("large", "artifact_too_large"),
        ({"name": "../a"}, "bad_artifact"),
        ({"name": "a\r\nb"}, "bad_artifact"),
        ({"name": "x" * 201}, "bad_artifact"),
        ({"name": "a", "media_type": "text/html\r\nX: y"}, "bad_artifact"),
    ],
)
def test_what_is_no_file_of_the_attempt_is_refused(world: World, artifact_root: Path, value: Any, code: str) -> None:
    step = ran(world, "keep_odd_artifact", value)
    assert json.loads(step.error or "{}").get("code") == code
    assert Artifact.objects.count() == 0
    assert list(artifact_root.glob("*/incoming/*")) == []


def test_an_artifact_of_an_attempt_that_lost_its_step_is_refused(
    world: World, hands: list[Hand], artifact_root: Path
) -> None:
    begun(world)
    zombie, owner = hands
    old = zombie.take()
    lose(world, zombie)
    owner.take()
    with pytest.raises(FencedOut):
        keep(world, zombie, old, "late")
    assert Artifact.objects.count() == 0
    assert list(artifact_root.glob("*/incoming/*")) == []


@pytest.mark.parametrize("border", [0, 5, 11])
def test_a_credential_is_found_across_the_borders_of_chunks(border: int) -> None:
    whole = b"....pa55-w0rd-of-it...."
    masker = Masker(["pa55-w0rd-of-it"])
    assert masker.is_in([whole[:border], whole[border:]])
    assert not masker.is_in([whole[:5], whole[6:]])
    assert not Masker([]).is_in([whole])


# ---------------------------------------------------------------------- downloaded


def test_a_download_never_runs_as_a_page(artifact_root: Path) -> None:
    people = cast()
    with World(workspace=people.acme) as world:
        step = ran(world, "make_artifacts", {"pägé.html": "<script>alert(1)</script>"})
    base = f"/api/workspaces/{people.acme.slug}/runs/{step.run_id}"
    client = people.client(Role.VIEWER)
    (shown,) = client.get(f"{base}/steps/A/artifacts").json()["items"]
    assert (shown["name"], shown["size"], shown["attempt"]) == ("pägé.html", 25, 1)
    answer = client.get(f"{base}/artifacts/{shown['id']}")
    assert answer.status_code == 200
    assert answer["Content-Disposition"] == "attachment; filename*=utf-8''p%C3%A4g%C3%A9.html"
    assert answer["Content-Security-Policy"] == "default-src 'none'; sandbox"
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["Content-Length"] == "25"

    async def read() -> bytes:
        return b"".join([part async for part in answer])

    assert asyncio.run(read()) == b"<script>alert(1)</script>"


def test_an_artifact_of_another_run_is_not_found(artifact_root: Path) -> None:
    people = cast()
    with World(workspace=people.acme) as world:
        one, other = ran(world, "make_artifacts", {"a": "1"}), ran(world, "make_artifacts", {"b": "2"})
    artifact = Artifact.objects.get(step_run=one)
    base = f"/api/workspaces/{people.acme.slug}/runs"
    client = people.client(Role.VIEWER)
    assert client.get(f"{base}/{other.run_id}/artifacts/{artifact.id}").status_code == 404
    assert client.get(f"{base}/{one.run_id}/artifacts/{2**70}").status_code == 404
    files.remove(files.place_of(people.acme.id, bytes(artifact.file.sha256)))
    assert client.get(f"{base}/{one.run_id}/artifacts/{artifact.id}").json()["code"] == "artifact_not_found"


# ---------------------------------------------------------------------- swept


def swept(world: World) -> int:
    _, gone = sweep_files(world.connection, after=0, batch=100, grace_s=-1)
    return gone


def test_a_content_goes_with_the_last_run_that_refers_to_it(world: World) -> None:
    one, other = ran(world, "make_artifacts", {"a": "same"}), ran(world, "make_artifacts", {"b": "same"})
    place = files.place_of(world.workspace.id, hashlib.sha256(b"same").digest())
    age(world, one.run_id, days=40)
    Housekeeping(days=30).turn(world.connection)
    assert swept(world) == 0
    assert place.read_bytes() == b"same"
    age(world, other.run_id, days=40)
    Housekeeping(days=30).turn(world.connection)
    assert swept(world) == 1
    assert not place.exists()
    assert ArtifactFile.objects.count() == 0


def test_a_content_that_is_swept_before_its_artifact_is_written_is_kept_all_the_same(
    world: World, hands: list[Hand], monkeypatch: pytest.MonkeyPatch
) -> None:
    begun(world)
    held = hands[0].take()
    gone: list[int] = []

    def sweep_once(name: str) -> None:
        if not gone:
            gone.append(swept(world))

    monkeypatch.setattr(engine, "failpoint", sweep_once)
    keep(world, hands[0], held, "text")
    assert gone == [1]
    (artifact,) = Artifact.objects.all()
    assert content(world, artifact) == b"text"


def test_what_was_staged_and_never_told_is_removed_in_time(world: World, artifact_root: Path) -> None:
    stage(world, "left behind")
    assert files.forget_staged(older_s=3600) == 0
    assert files.forget_staged(older_s=-1) == 1
    assert list(artifact_root.glob("*/incoming/*")) == []


def test_no_name_of_a_staged_file_leads_elsewhere() -> None:
    with pytest.raises(ValueError, match="no name of a staged file"):
        files.staged(UUID(int=1), "../../etc/passwd")
