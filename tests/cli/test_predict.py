from __future__ import annotations

from collections.abc import Callable
from pathlib import Path


def test_it_is_written_in_every_form(jpo: Callable[..., str]) -> None:
    words = ("predict", "config.ini")
    assert "Workload digits/cnn/torch: 2 finished runs" in jpo(*words).split("\n")[0]
    assert jpo(*words, "-o", "json").startswith('{\n  "schema_version": 1')
    assert jpo(*words, "-o", "markdown").startswith("### ")
    assert jpo(*words, "-o", "html").startswith("<!DOCTYPE html>")


def test_a_file_gets_the_form_of_its_suffix(jpo: Callable[..., str], tmp_path: Path) -> None:
    jpo(*("predict", "config.ini"), "--output-file", "out.md", "--output-file", "out.html")
    assert (tmp_path / "out.md").read_text().startswith("### ")
    assert (tmp_path / "out.html").read_text().startswith("<!DOCTYPE html>")
