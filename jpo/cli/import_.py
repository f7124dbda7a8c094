"""`jpo import`: its options and help."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import click

from jpo.cli.arguments import as_value, config_of, load_settings, pairs
from jpo.cli.gate import answer
from jpo.cli.options import FILE, options, toml_option, verbose_option

FORMATS = ["table", "huggingface", "lightning", "tensorboard", "mlflow"]


@click.command("import")
@click.argument("sources", type=FILE, nargs=-1, metavar="FILE|FOLDER...")
@click.option("--write", is_flag=True, help="Put the runs on record; without it nothing is written.")
@click.option("--format", "form", type=click.Choice(FORMATS), help="What the files are; default: as they look.")
@click.option("--dataset", metavar="NAME", help="Dataset of all these runs.")
@click.option("--model", metavar="NAME", help="Model of all these runs.")
@click.option("--framework", metavar="NAME", help="Framework of all these runs.")
@click.option("--hardware", metavar="NAME", help="Hardware of all these runs.")
@click.option("--set", "values", multiple=True, metavar="NAME=VALUE", help="Parameter of all these runs, e.g. gpus=4.")
@click.option("--for", "given", type=FILE, metavar="CONFIG.INI", help="The file of their job; default: config.ini.")
@options(toml_option, verbose_option)
def import_(
    sources: Sequence[Path],
    form: str | None,
    values: Sequence[str],
    given: Path | None,
    toml: Path | None,
    *,
    write: bool,
    **identity: str | None,
) -> None:
    """Import runs that other tools recorded.

    Without --write it shows what it would record. Nothing is recorded twice.

    \b
    Examples:
      jpo import runs.csv
      jpo import runs.csv --write
      jpo import outputs/ --set gpus=4          Hugging Face: every trainer_state.json in it
      jpo import lightning_logs/ --model vit    Lightning: metrics.csv with hparams.yaml
      jpo import runs/ --format tensorboard     event files
      jpo import mlruns/                        MLflow: a file store, or mlflow.db
    """
    from jpo.commands import import_ as command

    settings = load_settings(given, toml, {})
    numbers = {name: as_value(name, text, settings) for name, text in pairs("--set", values).items()}
    wanted = command.Wanted(form, {name: text for name, text in identity.items() if text}, numbers)
    answer(command.import_runs(sources, config_of(given, settings), settings, wanted, write=write, now=time.time()))
