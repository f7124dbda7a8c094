"""Results for people and for machines.

    document.py      what every report for people is made of: Document, Section, Table, Cell
    forms/           text, Markdown, HTML, CSV of any document; JSON. Names and numbers: jpo/wording

    report.py        Report: a suggestion and what became of it
                     terminal.py, markdown.py (for a job summary or a merge request), as_json.py (the published document)
    explanation.py   the same retold in full; explanation_json.py
    prediction.py    what configurations would take; what_if.py: the answer to a question; prediction_text.py, prediction_json.py
    front.py         the trade-off front; front_text.py, front_json.py, front_plot.py
    history.py       runs, suggestions and the ledger; before_after.py: before JPO and after; plots/before_after.py
    fleet.py         a simulated fleet; fleet_text.py, fleet_json.py, fleet_plot.py
    logs.py          what many runs say; the extended CSV, with rewards
    sla.py, audit.py, price_text.py, doctor_text.py    SLA targets and thresholds, the audit log, prices, surroundings
    live.py          a long wait on stderr

    numbers.py       numbers as people read them: 3h 52m, 21%, 0.0316
    spreadsheet.py   rows of CSV files, harmless in spreadsheets
    page.py          what text is printed on

All of it is told what to write: nothing here decides or stores anything.
"""

from jpo.report.report import Report

__all__ = ["Report"]
