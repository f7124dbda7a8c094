"""The result for people and for machines: one Report, three ways to write it.

    report.py      Report: a suggestion and what became of it
    terminal.py    tables for a terminal
    markdown.py    a note for a job summary or a merge request
    as_json.py     the published JSON document and its schema
    numbers.py     numbers as people read them: 3 h 52, 21 %, 0.0316

Each `render(report, ...) -> str` is pure; nothing here decides or stores anything.
"""

from jpo.report.report import Report

__all__ = ["Report"]
