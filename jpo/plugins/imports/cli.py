"""`jpo import`: its options and help."""

import os
import re
import time
from collections.abc import Sequence
from pathlib import Path
from textwrap import wrap

import click

from jpo.cli.arguments import config_of, load_settings, pairs
from jpo.cli.gate import answer
from jpo.cli.options import ChoiceOrInstalled, files, path, settings_options, writes_with
from jpo.cli.output import width
from jpo.cli.subject import config_first, for_option, named_once
from jpo.http.endpoint import Endpoint
from jpo.plugins.imports import GROUP, OWN

ADDRESS = re.compile(r"[a-z][a-z0-9+]*:/", re.IGNORECASE)
NUMBER = re.compile(r"[-+]?\.?[0-9][0-9.,]*(?:e[-+]?[0-9]+)?\s*[a-z%]*", re.IGNORECASE)
"""A value of --set that is no column: 32, 1e-3; a unit, as in 16G, is refused with its words."""
OF_THE_PAGE = re.compile(r"/?#/experiments/([0-9]+)[^#]*")
"""What follows the address of MLflow in a browser that shows an experiment."""


def folded(line: str) -> list[str]:
    """A line for people, no wider than the terminal."""
    return wrap(line, width(), subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def place(text: str) -> Path | str:
    """A file or folder, or the address of a server."""
    return text if ADDRESS.match(text) else path(text)


@click.command("import")
@click.argument("words", nargs=-1, metavar="[CONFIG.INI] FILE|FOLDER|URL...", shell_complete=files)
@writes_with("--write", "Put the runs on record; without it nothing is written.")
@click.option("--finished", is_flag=True, help="Runs whose files were written minutes ago are over.")
@click.option("--format", "form", type=ChoiceOrInstalled(OWN, GROUP), help="What the files are; default: as they look.")
@click.option("--experiment", "experiments", multiple=True, metavar="NAME", help="Of an MLflow server: name or id.")
@click.option("--dataset", metavar="NAME", help="Dataset of all these runs.")
@click.option("--model", metavar="NAME", help="Model of all these runs.")
@click.option("--framework", metavar="NAME", help="Framework of all these runs.")
@click.option("--hardware", metavar="NAME", help="Hardware of all these runs.")
@click.option(
    "--set", "values", multiple=True, metavar="NAME=VALUE", help="Of all these runs, e.g. gpus=4; or its column: val_loss=loss."
)
@for_option
@settings_options
def import_(
    words: Sequence[str],
    form: str | None,
    experiments: Sequence[str],
    values: Sequence[str],
    by_option: Path | None,
    toml: Path | None,
    *,
    write: bool,
    finished: bool,
    **identity: str | None,
) -> None:
    """Import runs that other tools recorded.

    Without --write it shows what it would record. Nothing is recorded twice.

    \b
    Examples:
      jpo import runs.csv
      jpo import runs.csv --set gpus=4 --set val_loss=loss@val --write
      jpo import outputs/ --set gpus=4          Hugging Face: every trainer_state.json in it
      jpo import lightning_logs/ --model vit    Lightning: metrics.csv with hparams.yaml
      jpo import runs/ --format tensorboard     event files
      jpo import mlruns/                        MLflow: a file store, or mlflow.db
      jpo import wandb/                         W&B: run-*.wandb, written offline too
      jpo import http://mlflow:5000 --experiment nightly
    """
    from jpo.cli.names import values_given
    from jpo.plugins.imports import story as command
    from jpo.plugins.imports.project import mlflow_of

    first, named = config_first(words, 1)
    given, places = named_once(first, by_option), [place(word) for word in named]
    settings = load_settings(given, toml, {})
    config = config_of(given, settings)
    said = pairs("--set", values)
    worded = {name: tuple(map(str, table.choices or ())) for name, table in settings.values.parameters.items()}
    columns = {name: text for name, text in said.items() if not NUMBER.fullmatch(text) and text not in worded.get(name, ())}
    numbers = values_given("--set", [f"{name}={text}" for name, text in said.items() if name not in columns], config, settings)
    addresses = [text for text in places if isinstance(text, str)]
    shown = [found[1] for text in addresses if (found := OF_THE_PAGE.search(text))]
    certain = {name: text for name, text in identity.items() if text}
    wanted = command.Wanted(form, certain, numbers, columns, [*experiments, *shown], finished)
    servers = dict.fromkeys(OF_THE_PAGE.sub("", text) for text in addresses)
    files = [one for one in places if isinstance(one, Path)]
    sources: list[Path | Endpoint] = [*files, *(mlflow_of(url, settings, os.environ) for url in servers)]
    lines = command.import_runs(sources, config, settings, wanted, write=write, now=time.time())
    answer(part for line in lines for part in ([line] if line.startswith(" ") else folded(line)))  # of jpo.toml: to be copied
