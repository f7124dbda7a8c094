from __future__ import annotations

from jpo.plugins.lab.cli.lab import lab


def test_the_lab_has_three_commands() -> None:
    assert sorted(lab.commands) == ["logs", "replay", "simulate"]
