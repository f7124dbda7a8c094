from __future__ import annotations

from collections.abc import Callable


def test_it_is_written_in_every_form(jpo: Callable[..., str]) -> None:
    words = ("lab", "simulate", "--workloads", "1", "--runs", "2")
    assert "1 simulated workloads × 2 runs" in jpo(*words).split("\n")[0]
    assert jpo(*words, "-o", "json").startswith('{\n  "schema_version": 1')
    assert jpo(*words, "-o", "markdown").startswith("### ")
    assert jpo(*words, "-o", "html").startswith("<!DOCTYPE html>")
