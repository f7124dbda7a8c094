"""Around a pipeline: `jpo init` sets it up, `jpo comment` writes its note, `jpo persist` keeps what it changed.

cli/         options and help; story/: what each command does
start/       the files that `jpo init` makes
code_host/   merge requests and notes of GitHub and GitLab
report/      what people read where pipelines are
"""
