import os
from pathlib import Path

from config.services.cleaning import drop_state
from config.services.house import House


def test_the_state_of_a_house_that_stands_empty_is_dropped(state: Path) -> None:
    (state / "redis").mkdir(parents=True)
    (state / "lock").touch()
    assert drop_state(state)
    assert not state.exists()


def test_nothing_is_dropped_while_somebody_lives_in_it(state: Path) -> None:
    with House(state, say=lambda _: None, given=dict(os.environ)):
        assert not drop_state(state)
        assert (state / "keys").is_dir()


def test_a_note_that_leads_elsewhere_than_our_own_folder_is_not_followed(state: Path, tmp_path: Path) -> None:
    (tmp_path / "precious").touch()
    state.mkdir(parents=True)
    (state / "postgres-is-elsewhere").write_text(f"{tmp_path}\n")
    assert drop_state(state)
    assert (tmp_path / "precious").exists()
