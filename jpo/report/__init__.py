"""Results for people and for programs. Nothing here decides, computes or stores anything.

    document.py      what every report for people is made of: Document, Section, Table, Cell
    forms/           text, Markdown, HTML, CSV of any document; JSON. Names and numbers: jpo/wording
    plots/           pictures, drawn by matplotlib

One file per subject, each with `document(x)` and `as_json(x)`:

    suggestion.py    a suggestion and what became of it; the published document with its schema; claim.py: it in a line
    explanation.py   the same in full
    check.py         a config.ini as JPO understands it; doctor.py: everything that JPO needs
    history.py       runs, suggestions and forecasts; before_after.py: before JPO and after; logs.py: what many runs say
    prediction.py    what configurations would take; front.py: the trade-off front; prices.py; sla.py
    fleet.py         a simulated fleet; policies.py: under several policies; replay.py: recorded jobs played again
    audit.py         the audit log
    launched/        a run of `jpo run`; watch/: runs that go on; optimize/: a loop of runs
    cluster/         the cluster lab; phases/: `jpo phases`; pipeline/: what people read where pipelines are
    review/          all of a store: what JPO did, and what came of it

    progress.py      a long wait on stderr
"""
