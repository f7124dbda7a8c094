"""`jpo phases`: phases of CPU, memory and GPU, and what is allocated by them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from jpo.errors import UsageError
from jpo.plugins.phases.chain import Ints
from jpo.plugins.phases.expand import expand
from jpo.plugins.phases.files.columns import TraceColumns
from jpo.plugins.phases.fit import FitOptions, fit_model
from jpo.plugins.phases.forecast import forecast
from jpo.plugins.phases.methods.labels import phases_of
from jpo.plugins.phases.model import PhaseModel
from jpo.plugins.phases.model_file import encoded
from jpo.plugins.phases.parts import encoded_part, parts_of
from jpo.plugins.phases.prototypes import nearest_prototype, prototypes
from jpo.plugins.phases.recorded import traces_of
from jpo.plugins.phases.report.fitted import ComingPhase, Kind, Phases
from jpo.plugins.phases.report.plots import plot_resources, plot_variance
from jpo.plugins.phases.report.sized import Sized
from jpo.plugins.phases.report.standings import ComparedWays, Promised
from jpo.plugins.phases.requests.allocate import Allocation, allocate
from jpo.plugins.phases.requests.caution import LITTLE
from jpo.plugins.phases.requests.evaluate import compare, leave_out, standings
from jpo.plugins.phases.requests.rightsize import config_lines, patch_lines, rightsize
from jpo.plugins.phases.sketch import MOST, phase_lines, resource_lines
from jpo.plugins.phases.table import phase_figures
from jpo.plugins.phases.traces import ALWAYS, GPU, GPU_MEMORY, Traces
from jpo.project.collect import on_record
from jpo.project.load import LoadedSettings
from jpo.project.project import open_project
from jpo.records import Track

MOST_OF_KINDS = 60
"""Executions between which kinds are looked for."""
KNOB = (0.2, 0.1, 0.05, 0.02, 0.01)
"""Shares of samples that may be missed, of which a picture shows what they cost."""
UNLIKE = 0.1
"""Share of samples unlike training from which the reader is told."""


def columns(named: Sequence[str], features: Sequence[str]) -> TraceColumns:
    """`--column cpu_cores=HEADER` and `--feature NAME` as the columns of a file."""
    pairs = [text.partition("=") for text in named]
    for text, (name, equals, header) in zip(named, pairs, strict=True):
        if not (name.strip() and equals and header.strip()):
            raise UsageError("--column", f"{text!r:.80} is not NAME=HEADER", "e.g. --column cpu_cores=cpu", code="JPO-E734")
    return TraceColumns({name.strip(): header.strip() for name, _, header in pairs}, tuple(features))


def fit(traces: Traces, options: FitOptions, track: Track) -> tuple[bytes, Phases]:
    """A model as the bytes of its file, and the phases that it found."""
    model = fit_model(traces, options, track)
    return encoded(model), _phases(model, traces, phases_of(model, traces))


def parts(model: PhaseModel, scaler: Path | None, crbm: Path | None, clusters: Path | None) -> list[tuple[Path, bytes]]:
    """The parts of a model that go into files of their own, as the bytes of these.

    Raises UsageError: JPO-E734, the model has no such part, or its weights do not go together.
    """
    has = parts_of(model)
    wanted = (("--scaler", scaler, has.scaler), ("--crbm", crbm, has.crbm), ("--clusters", clusters, has.clusters))
    for option, path, part in wanted:
        if path is not None and part is None:
            finding = f"the model is by {model.method}, which has none"
            raise UsageError(option, finding, "fit one with --method crbm-kmeans", code="JPO-E734")
    return [(path, encoded_part(part)) for _, path, part in wanted if path is not None and part is not None]


def predict(model: PhaseModel, traces: Traces, *, parity: bool = False) -> tuple[list[tuple[str, float, int, float]], Phases]:
    phases = phases_of(model, traces, parity=parity)
    probabilities = model.smoothed(traces)[np.arange(len(phases)), phases]
    executions = [execution.name for execution in traces.executions for _ in execution.times]
    rows = list(zip(executions, traces.times.tolist(), phases.tolist(), probabilities.tolist(), strict=True))
    kinds, like = _kinds(traces, phases)
    few = replace(traces, executions=traces.executions[:MOST])
    names = [execution.name for execution in few.executions]
    return rows, replace(
        _phases(model, traces, phases), kinds=kinds, coming=tuple(map(ComingPhase, names, like, forecast(model, few)))
    )


def expanded(model: PhaseModel, traces: Traces, *, split: int | None, seed: int) -> tuple[bytes, Phases]:
    """A model that knows new traces too, as the bytes of its file, and the phases of these traces by it."""
    more = expand(model, traces, split=split, seed=seed)
    return encoded(more), _phases(more, traces, more.predict(traces))


def drawn(model: PhaseModel, traces: Traces, file: Path | None, *, kind: str, palette: str, features: Sequence[str]) -> Phases:
    """Phases in traces, as a picture where a file is named, and as lines."""
    shown = traces.narrowed(features) if features else traces
    phases = phases_of(model, traces)
    if file is not None:
        plot = plot_variance if kind == "variance" else plot_resources
        plot(shown, phases, model.chain.phases, palette, file)
    return replace(_phases(model, shown, phases), bars=tuple(resource_lines(shown, phases)))


def sized(model: PhaseModel, traces: Traces, *, container: str, headroom: float) -> Sized:
    sizes = rightsize(traces, phases_of(model, traces), headroom=headroom)
    return Sized(traces.place, sizes, config_lines(sizes), patch_lines(sizes, container))


def requests(
    model: PhaseModel, traces: Traces, *, per_hour: float, met: float | None = None
) -> tuple[list[tuple[str, float, float, float]], ComparedWays]:
    """Rows of requests, and how they stand; `met`: share of samples that is promised, None: the model's own."""
    model = model if met is None else replace(model, misses=1 - met)
    allocations = allocate(model, traces, per_hour=per_hour)
    compared = _compared(traces, {"phases": allocations})
    known = tuple(note for note in model.notes if LITTLE in note)
    return [row for allocation in allocations for row in allocation.rows()], replace(compared, notes=(*known, *compared.notes))


def evaluate(model: PhaseModel, traces: Traces, training: Traces | None, *, per_hour: float) -> ComparedWays:
    """A model beside its peers, which know the training traces; those evaluated where none are named."""
    return _compared(traces, compare(traces, training or traces, model, per_hour=per_hour))


def evaluate_left_out(traces: Traces, options: FitOptions, *, per_hour: float, track: Track, knob: bool = False) -> ComparedWays:
    """The same, each execution left out of the fit; `knob`: by fits of other promises, too.

    Raises UsageError: JPO-E735, there is one execution only.
    """
    if len(traces.executions) < 2:
        raise UsageError(traces.place, "has one execution only: none is left to fit", "name traces of several", code="JPO-E735")

    def ways(misses: float) -> Mapping[str, Sequence[Allocation]]:
        fit_anew = partial(fit_model, options=replace(options, misses=misses))
        return leave_out(traces, fit_anew, per_hour=per_hour, track=track)

    promises = tuple(Promised(1 - misses, standings(ways(misses)["phases"])) for misses in (KNOB if knob else ()))
    return replace(_compared(traces, ways(options.misses)), promises=promises)


def seen_by(model: PhaseModel, shown: Sequence[str] = ()) -> tuple[str, ...]:
    """The features that must be read for a model to see phases, and those to show; none where these are the usual ones."""
    names = tuple(dict.fromkeys((*model.scaler.names, *shown)))
    return () if set(ALWAYS) <= {*names} <= {*ALWAYS, GPU, GPU_MEMORY} else names


def recorded(path: Path, settings: LoadedSettings, *, now: float, executions: Sequence[str] = ()) -> Traces:
    """The traces of a config.ini's own runs, as far as the store has their time series; nothing is written, no server asked."""
    with open_project(path, settings, now=now, read_only=True, judges=False) as job:
        runs = [(run.run_id, job.store.series_of(run)) for run in on_record(job.store, job.workload).runs]
    return traces_of(runs, str(path)).only(executions)


def _phases(model: PhaseModel, traces: Traces, phases: Ints) -> Phases:
    return Phases(
        method=model.method,
        traces=traces,
        figures=phase_figures(traces, phases, model.chain.phases),
        notes=model.notes,
        bars=tuple(phase_lines(traces, phases)),
    )


def _kinds(traces: Traces, phases: Ints) -> tuple[tuple[Kind, ...], list[str]]:
    """Kinds of executions, found in thousands by some, evenly taken; and of each of the first the one that it is like."""
    every = -(-len(traces.executions) // MOST_OF_KINDS)
    paths = traces.split(phases)
    some, names = paths[::every], [execution.name for execution in traces.executions][::every]
    kinds = prototypes(some)
    like = [names[kinds[nearest_prototype(execution, kinds, some)].medoid] for execution in paths[:MOST]]
    return tuple(Kind(len(kind.members), names[kind.medoid], kind.phases) for kind in kinds), like


def _compared(traces: Traces, ways: Mapping[str, Sequence[Allocation]]) -> ComparedWays:
    first = next(iter(ways.values()))
    unlike = [allocation.execution.name for allocation in first if allocation.drifted > UNLIKE]
    note = f"unlike training, allocated by the last samples alone for a while: {', '.join(unlike[:MOST])}"
    return ComparedWays(
        traces=traces,
        ways={name: standings(allocations) for name, allocations in ways.items()},
        notes=(note,) if unlike else (),
    )
