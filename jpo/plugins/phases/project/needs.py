"""Needs of a workload by the phases of its last runs, where [phases] names a model: evidence for cpus and memory_gib, and a part
of the state in which the agent decides and learns.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from jpo.errors import UsageError
from jpo.plugins.phases.project.settings import phases_table
from jpo.project.project import Project
from jpo.records import Known, Note, PhaseNeeds, Series

if TYPE_CHECKING:
    from jpo.plugins.phases.model import PhaseModel

CODE, UNREADABLE = "JPO-I871", "JPO-W872"
MOST_LEARNT = 100
"""Newest runs of which the agent learns what phases said after them."""


def with_phase_needs(known: Known, job: Project) -> Known:
    """What is known with the needs of the last runs' phases; a model that cannot be read is a note, and the rest as it is."""
    table = phases_table(job.settings)
    if table.model is None:
        return known
    try:
        needs = _needs(_model(job), [(run.run_id, job.store.series_of(run)) for run in known.runs[-table.runs :]])
    except UsageError as error:
        return _noted(known, Note(UNREADABLE, f"[phases] model tells nothing: {error}"))
    sentence = f"{needs}; CPU or memory peaks at {needs.peak_to_mean:.2g} times its mean"
    if needs.drifted:
        sentence += f"; {needs.drifted:.0%} of the newest run is unlike what the model knows"
    return _noted(replace(known, phase_needs=needs), Note(CODE, sentence))


def with_needs_after(known: Known, job: Project) -> Known:
    """What is known with the needs as they were after each of the newest runs, of which the agent learns."""
    table = phases_table(job.settings)
    if table.model is None or known.phase_needs is None:
        return known
    model, after = _model(job), {}
    series = [(run.run_id, job.store.series_of(run)) for run in known.runs[-MOST_LEARNT - table.runs + 1 :]]
    for end in range(max(1, len(series) - MOST_LEARNT + 1), len(series) + 1):
        with suppress(UsageError):  # nothing was measured by then
            after[series[end - 1][0]] = _needs(model, series[max(0, end - table.runs) : end])
    return replace(known, needs_after=after)


def _model(job: Project) -> "PhaseModel":
    """The model that [phases] names; a UsageError where it cannot be read."""
    from jpo.plugins.phases.model_file import read_model  # a suggestion without a model does not wait for numpy

    return read_model(job.settings.root / str(phases_table(job.settings).model))


def _needs(model: "PhaseModel", runs: Sequence[tuple[str, Sequence[Series]]]) -> PhaseNeeds:
    """The needs of these runs; a UsageError where none has time series of CPU and memory."""
    import numpy as np

    from jpo.plugins.phases.chain import entries
    from jpo.plugins.phases.recorded import traces_of
    from jpo.plugins.phases.requests.rightsize import rightsize

    traces = traces_of(runs, "runs on record")
    phases = model.predict(traces)
    sizes = rightsize(traces, phases)
    used = traces.stacked[:, :2]
    return PhaseNeeds(
        runs=len(traces.executions),
        phases=len(np.unique(phases)),
        cpus=sizes.cpu_limit,
        memory_gib=sizes.memory_gib,
        peak_to_mean=float((used.max(0) / np.maximum(used.mean(0), 1e-9)).max()),
        drifted=model.unlike(traces.only([traces.executions[-1].name])),
        stay_share=len(traces.executions) / sum(len(entries(own)) for own in traces.split(phases)),
    )


def _noted(known: Known, note: Note) -> Known:
    return replace(known, evidence=known.evidence.noting([note]))
