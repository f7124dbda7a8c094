"""`jpo report`: all of a store on one page, what JPO did and what came of it.

cli.py  story.py   the command
savings.py         time and money less than without JPO; rewards.py: what each run was worth to the agent
configurations.py  what was measured of each configuration, and which of them nothing beats
report/            the page
"""

from jpo.plugin import Plugin

PLUGIN = Plugin(
    "page",
    summary="what JPO did and what came of it, on one page",
    commands={"report": "jpo.plugins.page.cli:report"},
)
