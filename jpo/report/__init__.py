"""Results for people and for machines.

    document.py      what every report for people is made of: Document, Section, Table, Cell
    forms/           text, Markdown, HTML, CSV of any document; JSON. Names and numbers: jpo/wording

    suggestion.py    a suggestion and what became of it; the published document with its schema
    explanation.py   the same retold in full
    doctor.py, check.py    JPO's surroundings; a config.ini as JPO understands it
    prediction.py    what configurations would take; what_if.py: the answer to a question; prediction_text.py, prediction_json.py
    front.py         the trade-off front; front_text.py, front_json.py, front_plot.py
    history.py       runs, suggestions and the ledger; before_after.py: before JPO and after; plots/before_after.py
    fleet.py         a simulated fleet; fleet_text.py, fleet_json.py, fleet_plot.py
    logs.py          what many runs say; the extended CSV, with rewards
    sla.py, audit.py, price_text.py    SLA targets and thresholds, the audit log, prices
    progress.py      a long wait on stderr
    spreadsheet.py   rows of CSV files, harmless in spreadsheets
    page.py          what text is printed on

All of it is given what to write: nothing here computes, decides or stores anything.
"""
