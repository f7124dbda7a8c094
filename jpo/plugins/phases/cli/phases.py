"""`jpo phases`: its options and help."""

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from jpo.cli.arguments import load_settings
from jpo.cli.gate import complain, put, save, save_copy
from jpo.cli.options import FILE, options, seed_option
from jpo.cli.output import can_be_kept, track
from jpo.errors import UsageError
from jpo.files.reading import same_file
from jpo.plugins.phases.cli.follow import follow
from jpo.plugins.phases.cli.options import (
    PALETTES,
    Destination,
    PartFiles,
    Selection,
    budget_option,
    column_options,
    fit_options,
    met_option,
    model_file,
    part_options,
    result_options,
    traces_files,
)

if TYPE_CHECKING:
    from jpo.plugins.phases.fit import FitOptions
    from jpo.plugins.phases.model import PhaseModel
    from jpo.plugins.phases.traces import Traces


@click.group(context_settings={"show_default": True})
def phases() -> None:
    """Phases of CPU, memory and GPU; requests that follow them.

    TRACES is a CSV file with one row per sample: execution, time, and what was used; or what Grafana exports of a panel, or
    the JSON of a range query of Prometheus. Several files are joined, e.g. one of CPU and one of memory. AI4DL's columns and
    the usual names of the same things are found; others are named, e.g. --column cpu_cores=cpu --column memory_bytes=rss
    --column time=ts --column execution=pod; in place of a header a file may stand. A config.ini in its place stands for its
    own runs on record, as far as Prometheus measured them. Fits need jpo[phases].
    """


phases.add_command(follow)


@phases.command()
@traces_files
@options(fit_options, part_options("Take over"), column_options, result_options("Where the model goes; needed."))
def fit(traces: Sequence[Path], fitting: "FitOptions", files: PartFiles, selection: Selection, destination: Destination) -> None:
    """Find the phases of traces, and keep them as a model.

    Parts of an earlier model (`jpo phases parts`) are taken over where they are named.

    \b
    Examples:
      jpo phases fit traces.csv -o phases.model
      jpo phases fit pods.csv -o phases.model --column execution=pod --column cpu_cores=cpu --column memory_bytes=rss
      jpo phases fit traces.csv -o phases.model --scaler old.scaler
    """
    from jpo.plugins.phases.report import fitted
    from jpo.plugins.phases.story import phases as command

    if destination.result is None:
        raise click.UsageError("say where the model goes: -o MODEL")
    _keepable(destination.result, [*traces, *files.named])
    wanted = replace(fitting, parts=files.read())
    model, found = command.fit(_read(traces, selection), wanted, track)
    save_copy(destination.result, model)
    destination.report.show(fitted, found)


@phases.command()
@model_file
@part_options("Write")
def parts(model: Path, files: PartFiles) -> None:
    """Keep parts of a model as files of their own.

    A fit takes them over: jpo phases fit TRACES --scaler FILE.

    \b
    Examples:
      jpo phases parts phases.model --scaler job.scaler
      jpo phases parts crbm.model --scaler job.scaler --crbm job.crbm --clusters job.clusters
    """
    from jpo.plugins.phases.model_file import read_model
    from jpo.plugins.phases.story import phases as command

    if not files.named:
        raise click.UsageError("say which part goes where: --scaler FILE, --crbm FILE or --clusters FILE")
    if len({path.resolve() for path in files.named}) < len(files.named):
        raise click.UsageError("two parts would go into one file: name another one")
    for path in files.named:
        _keepable(path, [model])
    for path, part in command.parts(read_model(model), files.scaler, files.crbm, files.clusters):
        save_copy(path, part)


@phases.command()
@model_file
@traces_files
@click.option(
    "--parity", is_flag=True, help="Of crbm-kmeans: labels as AI4DL shows them, some missing, the rest one sample late."
)
@options(column_options, result_options("Write the phase of each sample there, as CSV."))
def predict(model: Path, traces: Sequence[Path], selection: Selection, destination: Destination, *, parity: bool) -> None:
    """Show the phases of traces by a model.

    \b
    Examples:
      jpo phases predict phases.model traces.csv
      jpo phases predict phases.model traces.csv -o phases.csv
    """
    from jpo.plugins.phases.report import fitted
    from jpo.plugins.phases.story import phases as command

    rows, found = command.predict(*_opened(model, traces, selection, destination), parity=parity)
    if destination.result is not None:
        save(destination.result, fitted.samples_csv(rows))
    destination.report.show(fitted, found)


@phases.command()
@model_file
@traces_files
@met_option(None, "; default: the model's own")
@options(budget_option, column_options, result_options("Write the requests there, as CSV; else they go to stdout."))
def allocate(
    model: Path, traces: Sequence[Path], met: float | None, per_hour: float, selection: Selection, destination: Destination
) -> None:
    """Request CPU and memory from sample to sample.

    A row applies until the next one of its execution: exec_id, t, cpu_alloc in cores, mem_alloc in bytes. With another
    --met than that of the fit, requests begin as the fit had them, and a run that misses more becomes more careful.

    \b
    Examples:
      jpo phases allocate phases.model traces.csv -o allocation.csv
      jpo phases allocate phases.model traces.csv -o allocation.csv --met 99%
    """
    from jpo.plugins.phases.report import standings
    from jpo.plugins.phases.story import phases as command

    opened = _opened(model, traces, selection, destination, requested=True)
    rows, compared = command.requests(*opened, per_hour=per_hour, met=met)
    if destination.result is None:
        put(standings.requests_csv(rows))
        return
    save(destination.result, standings.requests_csv(rows))
    destination.report.show(standings, compared)


@phases.command()
@model_file
@traces_files
@click.option("--kind", type=click.Choice(["courses", "variance"]), default="courses")
@click.option("--palette", type=click.Choice(PALETTES), default=PALETTES[0])
@options(column_options, result_options("The picture, .png or .svg; else lines for the terminal."))
def plot(model: Path, traces: Sequence[Path], kind: str, palette: str, selection: Selection, destination: Destination) -> None:
    """Draw traces over bars of their phases.

    Or, with --kind variance, box plots of what each phase uses, and how frequent it is. Pictures need jpo[phases].

    \b
    Examples:
      jpo phases plot phases.model traces.csv
      jpo phases plot phases.model traces.csv -o courses.svg --execution run-7 --palette viridis
      jpo phases plot phases.model traces.csv -o phases.png --kind variance
    """
    from jpo.plugins.phases.model_file import read_model
    from jpo.plugins.phases.report import fitted
    from jpo.plugins.phases.story import phases as command
    from jpo.report.forms.picture import can_plot

    _keepable(destination.result, [model, *traces])
    if destination.result is not None:
        can_plot(destination.result)
    fitted_model = read_model(model)
    read = _read(traces, replace(selection, features=()), command.seen_by(fitted_model, selection.features))
    shown = command.drawn(fitted_model, read, destination.result, kind=kind, palette=palette, features=selection.features)
    destination.report.show(fitted, shown)


@phases.command()
@model_file
@traces_files
@click.option("--split", type=click.IntRange(0), metavar="PHASE", help="Make two phases of this one.")
@options(seed_option, column_options, result_options("Where the new model goes; needed."))
def expand(
    model: Path, traces: Sequence[Path], split: int | None, selection: Selection, destination: Destination, *, seed: int
) -> None:
    """Teach a model new traces; its phases keep their numbers.

    What no phase explains becomes phases of its own, with numbers behind those that there are.

    \b
    Examples:
      jpo phases expand phases.model new.csv -o more.model
      jpo phases expand phases.model new.csv -o more.model --split 2
    """
    from jpo.plugins.phases.report import fitted
    from jpo.plugins.phases.story import phases as command

    if destination.result is None:
        raise click.UsageError("say where the new model goes: -o MODEL")
    more, found = command.expanded(*_opened(model, traces, selection, destination), split=split, seed=seed)
    save_copy(destination.result, more)
    destination.report.show(fitted, found)


@phases.command()
@click.argument("given", nargs=-1, required=True, type=FILE, metavar="[MODEL] TRACES...")
@click.option(
    "--training",
    type=FILE,
    multiple=True,
    metavar="TRACES",
    help="What the peers know of earlier runs; default: the same traces.",
)
@click.option("--plot", "picture", type=FILE, metavar="FILE", help="Met against allocated as a picture, .png or .svg.")
@options(budget_option, fit_options, column_options, result_options("Write the report there too."))
def evaluate(
    given: Sequence[Path],
    training: Sequence[Path],
    picture: Path | None,
    per_hour: float,
    fitting: "FitOptions",
    selection: Selection,
    destination: Destination,
) -> None:
    """Compare allocations by phases with simpler ways.

    With a model: on these traces. Without one, each execution is left out of the fit that allocates for it; --plot then also
    draws what other values of --met come to.

    \b
    Examples:
      jpo phases evaluate traces.csv
      jpo phases evaluate traces.csv --met 99% --plot met.svg
      jpo phases evaluate phases.model new.csv --training traces.csv
    """
    from jpo.plugins.phases.model_file import begins_as_model, read_model
    from jpo.plugins.phases.report import standings
    from jpo.plugins.phases.story import phases as command
    from jpo.plugins.phases.traces import ALWAYS
    from jpo.report.forms.picture import can_plot

    _keepable(destination.result, [*given, *training])
    _keepable(picture, [*given, *training])
    if picture is not None:
        can_plot(picture)
    if len(given) > 1 and begins_as_model(given[0]):
        fitted_model = read_model(given[0])
        needed = command.seen_by(fitted_model, ALWAYS)
        traces = _read(given[1:], selection, needed)
        known = _read(training, replace(selection, executions=()), needed) if training else None
        compared = command.evaluate(fitted_model, traces, known, per_hour=per_hour)
    else:
        compared = command.evaluate_left_out(
            _read(given, selection), fitting, per_hour=per_hour, track=track, knob=picture is not None
        )
    if picture is not None:
        standings.save_plot(compared, picture)
    replace(destination.report, files=(destination.result,) if destination.result else ()).show(standings, compared)


@phases.command()
@model_file
@traces_files
@click.option("--container", default="trainer", help="The container of the Kubernetes patch.")
@click.option("--headroom", type=click.FloatRange(0, 10), default=0.15, help="Share above the peak.")
@options(column_options, result_options("Write the Kubernetes patch there, as YAML."))
def rightsize(
    model: Path, traces: Sequence[Path], container: str, headroom: float, selection: Selection, destination: Destination
) -> None:
    """Size a workload's CPU and memory, for runs without resizes.

    As lines of config.ini, and as a patch of Kubernetes resources. Nothing is written into a config.ini.

    \b
    Examples:
      jpo phases rightsize phases.model traces.csv
      jpo phases rightsize phases.model traces.csv -o resources.yaml --container trainer
    """
    from jpo.plugins.phases.report import sized as subject
    from jpo.plugins.phases.story import phases as command

    opened = _opened(model, traces, selection, destination, requested=True)
    sized = command.sized(*opened, container=container, headroom=headroom)
    if destination.result is not None:
        save(destination.result, subject.patch_text(sized))
    destination.report.show(subject, sized)


def _opened(
    model: Path, traces: Sequence[Path], selection: Selection, destination: Destination, *, requested: bool = False
) -> "tuple[PhaseModel, Traces]":
    """The model and the traces that a command is about, with CPU and memory where these are `requested`."""
    from jpo.plugins.phases.model_file import read_model
    from jpo.plugins.phases.story import phases as command
    from jpo.plugins.phases.traces import ALWAYS

    _keepable(destination.result, [model, *traces])
    fitted = read_model(model)
    return fitted, _read(traces, selection, command.seen_by(fitted, ALWAYS if requested else ()))


def _read(paths: Sequence[Path], selection: Selection, features: Sequence[str] = ()) -> "Traces":
    """Traces of files, or of a config.ini's own runs; `features`: that a model asks for, after those on the command line."""
    from jpo.plugins.phases.files.read import read_traces
    from jpo.plugins.phases.story import phases as command

    if any(path.suffix.lower() == ".ini" for path in paths):
        if len(paths) > 1:
            raise click.UsageError("a config.ini selects its own runs: name it alone")
        return command.recorded(paths[0], load_settings(paths[0], None, {}), now=time.time(), executions=selection.executions)
    columns = command.columns(selection.columns, selection.features or features)
    traces = read_traces(paths, columns).only(selection.executions)
    for note in traces.notes:
        complain(note)
    return traces


def _keepable(result: Path | None, given: Sequence[Path]) -> None:
    """Find out before anything is computed that a result could not be kept, or would destroy what it is made of."""
    if result:
        if any(same_file(result, path) for path in given):
            raise UsageError(str(result), "is a file that is read here", "name another one", code="JPO-E307")
        can_be_kept([result])
