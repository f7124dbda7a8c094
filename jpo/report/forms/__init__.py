"""Forms of a report, one file each; every one takes any Document of report/document.py.

    text.py      terminals and job logs      markdown.py  job summaries, merge requests
    html.py      browsers, mail              csv.py       spreadsheets: numbers as they are, in USD
    json.py      programs: the one place that serialises a subject's own published document
    cells.py     what a cell says to people, for the first three; svg.py: a chart as shapes, for page and pictures
    picture.py   SVG and PNG of charts        colours.py   of pages and pictures
    toml.py      values as TOML writes them

A new form is a file here and a line in cli/output.py. Import a form when it is used: rich and jinja2 take their time.
"""
