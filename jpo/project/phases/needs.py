"""Needs of a workload by the phases of its last runs: evidence for cpus and memory_gib, where [phases] names a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from jpo.errors import UsageError
from jpo.project.project import Project
from jpo.records import Known, PhaseNeeds, Run

CODE, UNREADABLE = "JPO-I871", "JPO-W872"


def with_phase_needs(known: Known, job: Project) -> Known:
    """What is known with the needs of the last runs' phases; a model that cannot be read is a note, and the rest as it is."""
    table = job.settings.values.phases
    if table.model is None:
        return known
    try:
        needs = _needs(job, known.runs[-table.runs :])
    except UsageError as error:
        return _noted(known, f"[phases] model tells nothing: {error}", UNREADABLE)
    sentence = f"{needs}; CPU or memory peaks at {needs.peak_to_mean:.2g} times its mean"
    if needs.drifted:
        sentence += f"; {needs.drifted:.0%} of the newest run is unlike what the model knows"
    return _noted(replace(known, phase_needs=needs), sentence, CODE)


def _needs(job: Project, runs: Sequence[Run]) -> PhaseNeeds:
    """The needs of these runs.

    Raises:
        UsageError: the model cannot be read, or no run has time series of CPU and memory.
    """
    import numpy as np  # only here: a suggestion without a model of phases does not wait for them

    from jpo.phases.model_file import read_model
    from jpo.phases.recorded import traces_of
    from jpo.phases.requests.rightsize import rightsize

    model = read_model(job.settings.root / str(job.settings.values.phases.model))
    place = "runs on record"
    traces = traces_of(((run.run_id, job.store.series_of(run)) for run in runs), place)
    phases = model.predict(traces)
    sizes = rightsize(traces, phases)
    used = traces.stacked()[:, :2]
    return PhaseNeeds(
        runs=len(traces.courses),
        phases=len(np.unique(phases)),
        cpus=sizes.cpu_limit,
        memory_gib=sizes.memory_gib,
        peak_to_mean=float((used.max(0) / np.maximum(used.mean(0), 1e-9)).max()),
        drifted=model.unlike(traces.only([traces.courses[-1].execution])),
    )


def _noted(known: Known, sentence: str, code: str) -> Known:
    notes = (*known.evidence.notes, sentence)
    return replace(known, codes=(*known.codes, code), evidence=replace(known.evidence, notes=notes))
