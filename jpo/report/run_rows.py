"""Runs as rows of a CSV file for spreadsheets: identity, times, parameters, outcome; empty cells where nothing is known."""

from __future__ import annotations

from dataclasses import fields

from jpo.records import PARAMETERS, Outcome, Run
from jpo.report.spreadsheet import Cell

MEASURES = tuple(f.name for f in fields(Outcome))
HEAD = (
    *("run_id", "dataset", "model", "framework", "status", "started_at", "ended_at", "suggestion_id"),
    *PARAMETERS,
    *(f"used_{name}" if name in PARAMETERS else name for name in MEASURES),
)


def row_of(run: Run, suggestion_id: str | None) -> list[Cell]:
    """The cells of one run under HEAD."""
    identity = (run.identity.dataset, run.identity.model, run.identity.framework)
    head: list[Cell] = [run.run_id, *identity, run.status.value, run.started_at, run.ended_at, suggestion_id]
    parameters = [run.parameters.get(name) for name in PARAMETERS]
    return [*head, *parameters, *(getattr(run.outcome, name) for name in MEASURES)]
