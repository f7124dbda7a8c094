"""Results for people and for machines.

    document.py      what every report for people is made of: Document, Section, Table, Cell
    forms/           text, Markdown, HTML, CSV of any document; JSON. Names and numbers: jpo/wording

    report.py        Report: a suggestion and what became of it
                     terminal.py, markdown.py (for a job summary or a merge request), as_json.py (the published document)
    explanation.py   the same retold in full; explanation_json.py
    prediction.py    what configurations would take and cost, and the answer to a what-if question
    front.py         the trade-off front
    prices.py        prices, an hour of today's configuration, the instances of a catalogue
    fleet.py         a simulated fleet
    replay.py        recorded runs, played by JPO and its peers
    plots/           the front, a fleet, a replay, before and after, as pictures
    before_after.py  before JPO and after
    log_figures.py   what many runs say; log_tables.py, extended.py (as CSV, with rewards)
    sla.py, doctor_text.py, audit_words.py    promises, surroundings, the audit log
    live.py          a long wait on stderr

    numbers.py       numbers as people read them: 3h 52m, 21%, 0.0316
    printable.py     names from elsewhere; spreadsheet.py, run_rows.py: rows of CSV files
    page.py          what text is printed on

All of it is told what to write: nothing here decides or stores anything.
"""

from jpo.report.report import Report

__all__ = ["Report"]
