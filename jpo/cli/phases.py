"""`jpo phases`: its options and help."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from jpo.cli.arguments import load_settings
from jpo.cli.gate import complain, put, save, save_copy
from jpo.cli.options import FILE, options, seed_option
from jpo.cli.output import can_be_kept, not_settings, track
from jpo.cli.phase_options import (
    PALETTES,
    Fitting,
    PartFiles,
    Selection,
    Told,
    budget_option,
    column_options,
    fit_options,
    model_file,
    part_options,
    result_options,
    traces_file,
)

if TYPE_CHECKING:
    from jpo.phases.traces import Traces


@click.group()
def phases() -> None:
    """Phases of CPU, memory and GPU; requests that follow them.

    TRACES.CSV has one row per sample: execution, time, and what was used. AI4DL's columns and the usual names of the same
    things are found; others are named, e.g. --column cpu_cores=cpu --column memory_bytes=rss --column time=ts --column
    execution=pod. A config.ini in its place stands for its own runs on record, as far as Prometheus measured them.
    Fits need jpo[phases].
    """


@phases.command()
@traces_file
@options(fit_options, part_options("Take over"), column_options, result_options("Where the model goes; needed."))
def fit(
    traces: Path,
    fitting: Fitting,
    files: PartFiles,
    selection: Selection,
    told: Told,
) -> None:
    """Find the phases of traces, and keep them as a model.

    Parts of an earlier model (`jpo phases parts`) are taken over where they are named.

    \b
    Examples:
      jpo phases fit traces.csv -o phases.model
      jpo phases fit pods.csv -o phases.model --column execution=pod --column cpu_cores=cpu --column memory_bytes=rss
      jpo phases fit traces.csv -o phases.model --scaler old.scaler
    """
    from jpo.commands import phases as command
    from jpo.report.phases import fitted

    if told.result is None:
        raise click.UsageError("say where the model goes: -o MODEL")
    _keepable(told.result, [traces, *files.named])
    wanted = replace(fitting.options, parts=files.read())
    model, found = command.fit(_read(traces, selection), wanted, track)
    save_copy(told.result, model)
    told.report.show(fitted, found)


@phases.command()
@model_file
@part_options("Write")
def parts(model: Path, files: PartFiles) -> None:
    """Keep parts of a model as files of their own.

    A fit takes them over: jpo phases fit TRACES.CSV --scaler FILE.

    \b
    Examples:
      jpo phases parts phases.model --scaler job.scaler
      jpo phases parts crbm.model --scaler job.scaler --crbm job.crbm --clusters job.clusters
    """
    from jpo.commands import phases as command

    if not files.named:
        raise click.UsageError("say which part goes where: --scaler FILE, --crbm FILE or --clusters FILE")
    if len({path.resolve() for path in files.named}) < len(files.named):
        raise click.UsageError("two parts would go into one file: name another one")
    for path in files.named:
        _keepable(path, [model])
    for path, part in command.parts(command.load(model), files.scaler, files.crbm, files.clusters):
        save_copy(path, part)


@phases.command()
@model_file
@traces_file
@click.option(
    "--parity", is_flag=True, help="Of crbm-kmeans: labels as AI4DL shows them, some missing, the rest one sample late."
)
@options(column_options, result_options("Write the phase of each sample there, as CSV."))
def predict(
    model: Path,
    traces: Path,
    selection: Selection,
    told: Told,
    *,
    parity: bool,
) -> None:
    """Show the phases of traces by a model.

    \b
    Examples:
      jpo phases predict phases.model traces.csv
      jpo phases predict phases.model traces.csv -o phases.csv
    """
    from jpo.commands import phases as command
    from jpo.report.phases import fitted

    _keepable(told.result, [model, traces])
    fitted_model = command.load(model)
    rows, found = command.predict(fitted_model, _read(traces, selection), parity=parity)
    if told.result is not None:
        save(told.result, fitted.samples_csv(rows))
    told.report.show(fitted, found)


@phases.command()
@model_file
@traces_file
@options(budget_option, column_options, result_options("Write the requests there, as CSV; else they go to stdout."))
def allocate(
    model: Path,
    traces: Path,
    per_hour: float,
    selection: Selection,
    told: Told,
) -> None:
    """Request CPU and memory from sample to sample.

    A row holds until the next one of its execution: exec_id, t, cpu_alloc in cores, mem_alloc in bytes.

    \b
    Example:
      jpo phases allocate phases.model traces.csv -o allocation.csv
    """
    from jpo.commands import phases as command
    from jpo.report.phases import standings

    _keepable(told.result, [model, traces])
    fitted_model = command.load(model)
    rows, compared = command.requests(fitted_model, _read(traces, selection), per_hour=per_hour)
    if told.result is None:
        put(standings.requests_csv(rows))
        return
    save(told.result, standings.requests_csv(rows))
    told.report.show(standings, compared)


@phases.command()
@model_file
@traces_file
@click.option("--kind", type=click.Choice(["courses", "variance"]), default="courses", show_default=True)
@click.option("--palette", type=click.Choice(PALETTES), default=PALETTES[0], show_default=True)
@options(column_options, result_options("The picture, .png or .svg; else lines for the terminal."))
def plot(
    model: Path,
    traces: Path,
    kind: str,
    palette: str,
    selection: Selection,
    told: Told,
) -> None:
    """Draw traces over bars of their phases.

    Or, with --kind variance, box plots of what each phase uses, and how frequent it is. Pictures need jpo[phases].

    \b
    Examples:
      jpo phases plot phases.model traces.csv
      jpo phases plot phases.model traces.csv -o courses.svg --execution run-7 --palette viridis
      jpo phases plot phases.model traces.csv -o phases.png --kind variance
    """
    from jpo.commands import phases as command
    from jpo.report.phases import fitted
    from jpo.report.plots.picture import can_plot

    _keepable(told.result, [model, traces])
    if told.result is not None:
        can_plot(told.result)
    fitted_model = command.load(model)
    read = _read(traces, replace(selection, features=()))
    found = command.drawn(fitted_model, read, command.Picture(kind, palette, tuple(selection.features)), told.result)
    told.report.show(fitted, found)


@phases.command()
@model_file
@traces_file
@click.option("--split", type=click.IntRange(0), metavar="PHASE", help="Make two phases of this one.")
@options(seed_option, column_options, result_options("Where the new model goes; needed."))
def expand(
    model: Path,
    traces: Path,
    split: int | None,
    selection: Selection,
    told: Told,
    *,
    seed: int,
) -> None:
    """Teach a model new traces; its phases keep their numbers.

    What no phase explains becomes phases of its own, with numbers behind those that there are.

    \b
    Examples:
      jpo phases expand phases.model new.csv -o more.model
      jpo phases expand phases.model new.csv -o more.model --split 2
    """
    from jpo.commands import phases as command
    from jpo.report.phases import fitted

    if told.result is None:
        raise click.UsageError("say where the new model goes: -o MODEL")
    _keepable(told.result, [model, traces])
    read = _read(traces, selection)
    more, found = command.expanded(command.load(model), read, split=split, seed=seed)
    save_copy(told.result, more)
    told.report.show(fitted, found)


@phases.command()
@click.argument("given", nargs=-1, required=True, type=FILE, metavar="[MODEL] TRACES.CSV")
@click.option(
    "--training", type=FILE, metavar="TRACES.CSV", help="What the peers know of earlier runs; default: the same traces."
)
@options(budget_option, fit_options, column_options, result_options("Write the report there too."))
def evaluate(
    given: Sequence[Path],
    training: Path | None,
    per_hour: float,
    fitting: Fitting,
    selection: Selection,
    told: Told,
) -> None:
    """Compare allocations by phases with simpler ways.

    With a model: on these traces. Without one, each execution is left out of the fit that allocates for it.

    \b
    Examples:
      jpo phases evaluate traces.csv
      jpo phases evaluate phases.model new.csv --training traces.csv
    """
    from jpo.commands import phases as command
    from jpo.report.phases import standings

    if len(given) > 2:
        raise click.UsageError("name a model and traces, or traces alone")
    _keepable(told.result, [*given, *([training] if training else [])])
    traces = _read(given[-1], selection)
    if len(given) == 2:
        known = _read(training, replace(selection, executions=())) if training else None
        compared = command.evaluate(command.load(given[0]), traces, known, per_hour=per_hour)
    else:
        compared = command.evaluate_left_out(traces, fitting.options, per_hour=per_hour, track=track)
    replace(told.report, files=(told.result,) if told.result else ()).show(standings, compared)


@phases.command()
@model_file
@traces_file
@click.option("--container", default="trainer", show_default=True, help="The container of the Kubernetes patch.")
@click.option("--headroom", type=click.FloatRange(0, 10), default=0.15, show_default=True, help="Share above the peak.")
@options(column_options, result_options("Write the Kubernetes patch there, as YAML."))
def rightsize(
    model: Path,
    traces: Path,
    container: str,
    headroom: float,
    selection: Selection,
    told: Told,
) -> None:
    """Size a workload's CPU and memory, for runs without resizes.

    As lines of config.ini, and as a patch of Kubernetes resources. Nothing is written into a config.ini.

    \b
    Examples:
      jpo phases rightsize phases.model traces.csv
      jpo phases rightsize phases.model traces.csv -o resources.yaml --container trainer
    """
    from jpo.commands import phases as command
    from jpo.report.phases import sized as subject

    _keepable(told.result, [model, traces])
    read = _read(traces, selection)
    sized = command.sized(read, command.load(model), container=container, headroom=headroom)
    if told.result is not None:
        save(told.result, subject.patch_text(sized))
    told.report.show(subject, sized)


def _read(path: Path, selection: Selection) -> Traces:
    """Traces of a CSV file, or of a config.ini's own runs on record."""
    from jpo.commands import phases as command

    if path.suffix.lower() == ".ini":
        return command.recorded(path, load_settings(path, None, {}), now=time.time(), executions=selection.executions)
    traces = command.read(path, command.columns(selection.columns, selection.features), selection.executions)
    for note in traces.notes:
        complain(note)
    return traces


def _keepable(result: Path | None, given: Sequence[Path]) -> None:
    """Find out before anything is computed that a result could not be kept, or would destroy what it is made of."""
    from jpo.commands.phases import refuse_overwriting

    refuse_overwriting(result, given)
    kept = [result] if result else []
    not_settings(kept)
    can_be_kept(kept)
