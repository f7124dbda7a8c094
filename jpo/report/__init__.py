"""Results for people and for programs. Nothing here decides, computes or stores anything.

    document.py      what every report for people is made of: Document, Section, Table, Cell
    forms/           text, Markdown, HTML, CSV of any document; JSON. Names and numbers: jpo/wording
    plots/           what pictures need that plugins draw by matplotlib; all others are forms/picture.py

One file per subject, each with `document(x)` and `as_json(x)`:

    suggestion.py    a suggestion and what became of it (answer.py), suggested.py: of several files; headline.py: it in a line;
                     suggestion_schema.py: the published document
    explanation.py   the same in full; rules.py: what each rule of its decision did
    check.py         a config.ini as JPO understands it; doctor.py: everything that JPO needs
    history.py       runs, suggestions and forecasts; before_after.py: before JPO and after
    prediction.py    what configurations would take; front.py: the trade-off front; prices.py; sla.py
    audit.py         the audit log

    progress_bar.py  a long wait on stderr
"""
