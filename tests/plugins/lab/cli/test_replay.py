from __future__ import annotations

from collections.abc import Callable
from pathlib import Path


def test_it_is_written_in_every_form(jpo: Callable[..., str]) -> None:
    words = ("lab", "replay", "config.ini", "--policies", "default", "--runs", "2", "--seeds", "2", "--jobs", "1")
    assert "1 recorded workload, 2 replays of 2 runs" in jpo(*words).split("\n")[0]
    assert jpo(*words, "-o", "json").startswith('{\n  "schema_version": 1')
    assert jpo(*words, "-o", "markdown").startswith("### ")
    assert jpo(*words, "-o", "html").startswith("<!DOCTYPE html>")


def test_v_shows_a_table_for_each_workload_of_several(jpo: Callable[..., str], tmp_path: Path) -> None:
    other = (tmp_path / "config.ini").read_text().replace("cnn", "mlp")
    (tmp_path / "other.ini").write_text(other)
    for number in (0, 1):
        log = (tmp_path / f"run-{number}.csv").read_text()
        (tmp_path / f"run-{number + 2}.csv").write_text(log.replace("cnn", "mlp").replace(f"run-{number}", f"run-{number + 2}"))
    words = ("lab", "replay", "config.ini", "other.ini", "--policies", "default", "--runs", "2", "--seeds", "2", "--jobs", "1")
    assert "balanced, digits/mlp/torch" not in jpo(*words)
    assert "balanced, digits/mlp/torch" in jpo(*words, "-v")
