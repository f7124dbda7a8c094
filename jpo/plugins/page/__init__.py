"""`jpo report`: all of a store on one page, what JPO did and what came of it.

cli.py  story.py   the command
report/            the page
"""

from jpo.plugin import Plugin

PLUGIN = Plugin(
    "page",
    summary="what JPO did and what came of it, on one page",
    commands={"report": "jpo.plugins.page.cli:report"},
)
