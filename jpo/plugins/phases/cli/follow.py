"""`jpo phases follow`: its options and help."""

import os
import time
from contextlib import closing
from pathlib import Path

import click

from jpo.cli.arguments import load_settings
from jpo.cli.gate import answer, complain, put
from jpo.cli.options import FILE
from jpo.errors import UsageError


@click.command()
@click.argument("run", metavar="RUN|POD|CGROUP")
@click.option("--model", type=FILE, metavar="FILE", help="Model of the phases; default: [phases] model of jpo.toml.")
@click.option("--apply", is_flag=True, help="Resize it, at most 30 times an hour; the first request is back at the end.")
@click.option("-o", "--format", "form", type=click.Choice(("text", "json")), default="text", help="Lines for people, or JSON.")
def follow(run: str, model: Path | None, form: str, *, apply: bool) -> None:
    """Follow a run by its phases; its request follows them.

    Says the phase of a run that goes on, what comes next and when, and the request for it, one sample after the other.

    \b
    Examples:
      jpo phases follow /sys/fs/cgroup/train.slice --model phases.model
      jpo phases follow /sys/fs/cgroup/train.slice --model phases.model --apply
    """
    from jpo.plugins.phases.model_file import read_model
    from jpo.plugins.phases.project.settings import phases_table
    from jpo.plugins.phases.report.followed import as_json, as_line, last_line
    from jpo.plugins.phases.story import follow as command
    from jpo.report.forms import json

    settings = load_settings(None, None, {})
    named = model or ((name := phases_table(settings).model) and settings.root / name)
    if not named:
        raise UsageError("--model", "is not given, nor [phases] model of jpo.toml", "name one: jpo phases fit", code="JPO-E734")
    terms = command.terms(settings, time.time, time.sleep, apply=apply)
    target = command.target(run, settings, os.environ, terms)
    before, step = None, None
    with closing(command.follow(read_model(named), target, terms)) as steps:
        for step in steps:
            news = step.state.coming.phase, step.state.doubt
            if form == "json":
                put(json.line(as_json(step)))
            elif step.resized or news != before:
                answer([as_line(step)])
            before = news
    if step is None:
        complain(f"{target.name}: ended before anything of it was measured")
    elif form == "text":
        answer([last_line(step)])
