"""The bench's last line is read by programs, and its table goes into the docs."""

import json
from pathlib import Path

import pytest

from tests.bench import report

PROMISED = [
    "floor_commit_ms", "floor_queue_ms", "chain12_ms_p50", "chain12_ms_p95", "step_ms_p50", "steps_per_s",
    "fanout100_ms", "first_step_ms_p95", "round_trips_per_step", "commits_per_step", "recovery_s", "live_ms_p95",
    "rss_mb_idle", "shell_kb_gzip", "canvas_kb_gzip", "frame_ms_500", "map10000_s", "tasks2122_per_s",
    "resume10000_s",
    "waiting1000_cpu_percent", "claim_ms_p95_small", "claim_ms_p95_large", "claim_ms_p95_over",
]  # fmt: skip


def test_the_last_line_has_every_figure_and_null_for_one_that_was_not_measured() -> None:
    found = {"chain12_ms_p50": 21.5, "cpu_us_workers": 500.0}
    line = json.loads(report.line(found))
    assert list(line) == PROMISED
    assert line["chain12_ms_p50"] == 21.5
    assert line["frame_ms_500"] is None


def test_the_table_says_how_many_bare_commits_a_chain_amounts_to() -> None:
    table = report.table({"floor_commit_ms": 0.5, "chain12_ms_p50": 20.0})
    row = next(line for line in table.splitlines() if line.startswith("chain12_ms_p50"))
    assert row.split()[:5] == ["chain12_ms_p50", "20.0", "<=", "23", "40.0"]


def test_writing_the_docs_replaces_the_figures_and_leaves_the_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    docs = tmp_path / "benchmarks.md"
    docs.write_text("before\n<!-- bench:begin -->\nold\n<!-- bench:end -->\nafter\n")
    monkeypatch.setattr(report, "DOCS", docs)
    report.write_docs({"recovery_s": 0.5})
    report.write_docs({"recovery_s": 0.75})
    text = docs.read_text()
    assert text.startswith("before\n<!-- bench:begin -->\n```\n")
    assert text.endswith("```\n<!-- bench:end -->\nafter\n")
    assert '"recovery_s": 0.75' in text
    assert "old" not in text
    assert '"recovery_s": 0.5,' not in text


def test_the_docs_have_a_place_for_the_figures() -> None:
    assert report.BLOCK.search(report.DOCS.read_text(encoding="utf-8"))
