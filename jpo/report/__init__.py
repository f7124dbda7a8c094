"""Results for people and for machines.

    document.py      what every report for people is made of: Document, Section, Table, Cell
    forms/           text, Markdown, HTML, CSV of any document; JSON. Names and numbers: jpo/wording

    suggestion.py    a suggestion and what became of it; the published document with its schema
    explanation.py   the same retold in full
    doctor.py, check.py    JPO's surroundings; a config.ini as JPO understands it
    prediction.py    what configurations would take; what_if.py: the answer to a question; prediction_text.py, prediction_json.py
    front.py         the trade-off front; front_text.py, front_json.py, front_plot.py
    before_after.py  before JPO and after; before_after_plot.py
    fleet.py         a simulated fleet; fleet_text.py, fleet_json.py, fleet_plot.py
    log_figures.py   what many runs say; log_tables.py, extended.py (as CSV, with rewards)
    sla.py, price_text.py, audit_words.py    promises, prices, the audit log
    progress.py      a long wait on stderr

    spreadsheet.py, run_rows.py    rows of CSV files
    page.py          what text is printed on

All of it is given what to write: nothing here computes, decides or stores anything.
"""
