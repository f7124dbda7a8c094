"""Results for people and for machines.

    document.py      what every report for people is made of: Document, Section, Table, Cell
    forms/           text, Markdown, HTML, CSV of any document; JSON. Names and numbers: jpo/wording

    report.py        Report: a suggestion and what became of it
                     terminal.py, markdown.py (for a job summary or a merge request), as_json.py (the published document)
    explanation.py   the same retold in full; explanation_json.py
    prediction.py    what configurations would take and cost, and the answer to a what-if question
    front.py         the trade-off front
    history.py       runs, suggestions and the ledger; before_after.py: before JPO and after
    prices.py        prices, an hour of today's configuration, the instances of a catalogue
    fleet.py         a simulated fleet
    replay.py        recorded runs, played by JPO and its peers
    logs.py          what many runs say; the extended CSV, with rewards
    plots/           front, fleet, replay, before and after as pictures
    sla.py, audit.py, doctor_text.py    SLA targets and thresholds, the audit log, surroundings
    live.py          a long wait on stderr

    numbers.py       numbers as people read them: 3h 52m, 21%, 0.0316
    spreadsheet.py   rows of CSV files, harmless in spreadsheets
    page.py          what text is printed on

All of it is told what to write: nothing here decides or stores anything.
"""

from jpo.report.report import Report

__all__ = ["Report"]
