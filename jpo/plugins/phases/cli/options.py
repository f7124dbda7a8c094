"""Options that the commands of `jpo phases` share, each written once."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING

import click

from jpo.cli.options import FILE, F, colour_option, gathered, options, seed_option, verbose_option
from jpo.cli.output import READABLE, Output, coloured

if TYPE_CHECKING:
    from jpo.plugins.phases.fit import FitOptions, Method
    from jpo.plugins.phases.parts import Parts

METHODS = ("markov", "hmm", "changepoint", "crbm-kmeans")
"""Of jpo.plugins.phases.fit, which needs numpy: help must not."""
PALETTES = ("tab10", "Set2", "viridis", "cividis", "gray")
"""Of matplotlib; the last three read in print or with any eyes."""
model_file = click.argument("model", type=FILE, metavar="MODEL")
traces_files = click.argument("traces", nargs=-1, required=True, type=FILE, metavar="TRACES...")


def as_record(name: str, record: Callable[..., object], *shared: Callable[[F], F]) -> Callable[[F], F]:
    """Options that a command gets as one argument of this name: what `record` makes of them."""
    names = tuple(signature(record).parameters)
    return lambda function: options(*shared)(gathered(function, name, record, names))


@dataclass(frozen=True, slots=True)
class PartFiles:
    """Files of a model's parts: read by a fit, written from a model."""

    scaler: Path | None
    crbm: Path | None
    clusters: Path | None

    @property
    def named(self) -> tuple[Path, ...]:
        return tuple(path for path in (self.scaler, self.crbm, self.clusters) if path)

    def read(self) -> "Parts":
        from jpo.plugins.phases.parts import Parts, read_clusters, read_crbm, read_scaler

        return Parts(
            read_scaler(self.scaler) if self.scaler else None,
            read_crbm(self.crbm) if self.crbm else None,
            read_clusters(self.clusters) if self.clusters else None,
        )


def part_options(verb: str) -> Callable[[F], F]:
    """--scaler, --crbm and --clusters as the argument `files`; `verb`: what is done with each."""
    return as_record(
        "files",
        PartFiles,
        click.option("--scaler", type=FILE, metavar="FILE", help=f"{verb} the scaler."),
        click.option("--crbm", type=FILE, metavar="FILE", help=f"crbm-kmeans: {verb.lower()} the machine."),
        click.option("--clusters", type=FILE, metavar="FILE", help=f"crbm-kmeans: {verb.lower()} the clusters."),
    )


@dataclass(frozen=True, slots=True)
class Selection:
    """What is read of a file of traces: headers as NAME=HEADER, features and executions, all of them where none is named."""

    columns: Sequence[str] = ()
    features: Sequence[str] = ()
    executions: Sequence[str] = ()


column_options = as_record(
    "selection",
    Selection,
    click.option("--column", "columns", multiple=True, metavar="NAME=HEADER", help="A column's header; see `jpo phases --help`."),
    click.option("--feature", "features", multiple=True, metavar="NAME", help="Use these features only, in this order."),
    click.option("--execution", "executions", multiple=True, metavar="ID", help="These executions only; repeatable."),
)


@dataclass(frozen=True, slots=True)
class Destination:
    """Where a command's result goes, None: nowhere else, and what is said of it."""

    result: Path | None
    report: Output


def result_options(what: str) -> Callable[[F], F]:
    """-o for the result, --format and --no-color for what is said of it, as the argument `destination`."""

    def destination(result: Path | None, form: str, no_color: bool) -> Destination:
        return Destination(result, Output(form, colour=coloured(no_color)))

    return as_record(
        "destination",
        destination,
        click.option("-o", "--output", "result", type=FILE, metavar="FILE", help=what),
        click.option("--format", "form", type=click.Choice(READABLE), default="text"),
        colour_option,
        verbose_option,
    )


def share(text: str) -> float:
    """A share of samples, 95% or 0.95, from 50% to 99.9%."""
    try:
        number = round(float(text.removesuffix("%")) / (100 if text.endswith("%") else 1), 9)
    except ValueError:
        number = 0.0
    if not 0.5 <= number <= 0.999:
        raise click.BadParameter(f"{text!r:.40} must be a share from 50% to 99.9%, e.g. 95%")
    return number


def fitting_of(
    method: "Method", met: float, n_phases: int | None, seed: int, history: int, hidden: int, learning_rate: float, epochs: int
) -> "FitOptions":
    """Options of a fit, which need numpy."""
    from jpo.plugins.phases.fit import FitOptions
    from jpo.plugins.phases.methods.crbm import CrbmOptions

    crbm = CrbmOptions(history, hidden, learning_rate, epochs, seed=seed)
    return FitOptions(method, n_phases, seed, crbm, misses=1 - met)


def met_option(default: str | None, of: str) -> Callable[[F], F]:
    """--met of a command; `of`: what is told of it besides."""
    words = f"Promised share of samples whose demand is met{of}."
    return click.option("--met", type=share, default=default, metavar="SHARE", help=words)


fit_options = as_record(
    "fitting",
    fitting_of,
    click.option("--method", type=click.Choice(METHODS), default="markov"),
    met_option("95%", ""),
    click.option("--phases", "n_phases", type=click.IntRange(2, 50), help="How many; default: as the traces have them, 2 to 10."),
    click.option("--history", type=click.IntRange(1, 100), default=3, help="crbm-kmeans: samples it looks back."),
    click.option("--hidden", type=click.IntRange(1, 1000), default=10, help="crbm-kmeans: hidden units."),
    click.option("--learning-rate", type=click.FloatRange(1e-6, 1), default=0.01, help="crbm-kmeans."),
    click.option("--epochs", type=click.IntRange(1, 100_000), default=100, help="crbm-kmeans: at most."),
    seed_option,
)
budget_option = click.option(
    "--resizes-per-hour", "per_hour", type=click.FloatRange(0.1, 3600), default=30.0, help="Budget of resizes."
)
