"""Around a pipeline: `jpo init` sets it up, `jpo comment` writes its note, `jpo persist` keeps what it changed.

cli/         options and help; story/: what each command does
start/       the files that `jpo init` makes
doctor.py    what `jpo doctor` says of pipelines and tokens
code_host/   merge requests and notes of GitHub and GitLab
report/      what people read where pipelines are
"""

from jpo.plugin import Plugin

PLUGIN = Plugin(
    "ci",
    summary="a pipeline and its notes",
    commands={
        "init": "jpo.plugins.ci.cli.init:init",
        "comment": "jpo.plugins.ci.cli.comment:comment",
        "persist": "jpo.plugins.ci.cli.persist:persist",
    },
    checks={"Installation": "jpo.plugins.ci.doctor:tokens", "Project": "jpo.plugins.ci.doctor:pipeline_file"},
)
