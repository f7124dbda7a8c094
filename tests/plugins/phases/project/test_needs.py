from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from made import a_run
from phase_traces import made_traces

from jpo.plugins.phases.fit import fit_phases
from jpo.plugins.phases.model_file import encoded
from jpo.plugins.phases.project.needs import with_needs_after, with_phase_needs
from jpo.plugins.phases.project.settings import PhasesTable
from jpo.plugins.phases.traces import Traces
from jpo.records import Known, Series

RUNS = tuple(a_run(f"r{at}", 200.0 + at) for at in range(3))


def series_of(traces: Traces) -> dict[str, tuple[Series, ...]]:
    found = {}
    for run, execution in zip(RUNS, traces.executions, strict=True):
        times, (cpu, memory) = tuple(execution.times.tolist()), execution.values.T.tolist()
        gib = tuple(one / 2**30 for one in memory)
        found[run.run_id] = (Series(run.run_id, "cpu_cores", times, tuple(cpu)), Series(run.run_id, "memory_gib", times, gib))
    return found


def job(folder: Path, table: PhasesTable, series: dict[str, tuple[Series, ...]]):  # type: ignore[no-untyped-def]
    """As much of a project as is asked."""
    settings = SimpleNamespace(table=lambda _name, _model: table, root=folder)
    return SimpleNamespace(settings=settings, store=SimpleNamespace(series_of=lambda run: series.get(run.run_id, ())))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("needs")
    (folder / "phases.model").write_bytes(encoded(fit_phases(made_traces()[0])))
    return folder


def test_without_a_model_nothing_is_known_more(folder: Path) -> None:
    known = Known(RUNS)
    assert with_phase_needs(known, job(folder, PhasesTable(), series_of(made_traces(runs=3)[0]))) is known


def test_needs_are_never_below_the_measured_peak_and_headroom(folder: Path) -> None:
    traces = made_traces(runs=3, seed=5)[0]
    known = with_phase_needs(Known(RUNS), job(folder, PhasesTable(model="phases.model"), series_of(traces)))
    assert known.phase_needs is not None
    peak = traces.stacked.max(0)
    assert known.phase_needs.cpus >= peak[0] * 1.15
    assert known.phase_needs.memory_gib >= peak[1] / 2**30 * 1.15
    assert (known.phase_needs.runs, known.phase_needs.phases, known.phase_needs.drifted) == (3, 5, 0)
    assert known.evidence.codes == ("JPO-I871",)
    assert "5 phases in the last 3 runs peak at" in known.evidence.notes[0].text


def test_the_last_runs_count(folder: Path) -> None:
    traces = made_traces(runs=3, seed=5)[0]
    known = with_phase_needs(Known(RUNS), job(folder, PhasesTable(model="phases.model", runs=1), series_of(traces)))
    assert known.phase_needs is not None
    assert known.phase_needs.runs == 1


def test_a_run_unlike_the_model_is_said(folder: Path) -> None:
    traces = made_traces(runs=3, seed=5)[0]
    strange = replace(traces.executions[-1], values=traces.executions[-1].values * (20, 400))
    series = series_of(replace(traces, executions=(*traces.executions[:-1], strange)))
    known = with_phase_needs(Known(RUNS), job(folder, PhasesTable(model="phases.model"), series))
    assert known.phase_needs is not None
    assert known.phase_needs.drifted > 0.5
    assert "of the newest run is unlike what the model knows" in known.evidence.notes[0].text


@pytest.mark.parametrize(("model", "measured"), [("absent", True), ("phases.model", False)])
def test_what_tells_nothing_is_a_note_and_changes_nothing(folder: Path, model: str, measured: bool) -> None:
    series = series_of(made_traces(runs=3)[0]) if measured else {}
    known = with_phase_needs(Known(RUNS), job(folder, PhasesTable(model=model), series))
    assert known.phase_needs is None
    assert known.evidence.codes == ("JPO-W872",)


def test_the_agent_learns_what_phases_said_after_each_run(folder: Path) -> None:
    series = series_of(made_traces(runs=3, seed=5)[0])
    project = job(folder, PhasesTable(model="phases.model", runs=2), {**series, RUNS[0].run_id: ()})
    known = with_needs_after(with_phase_needs(Known(RUNS), project), project)
    assert set(known.needs_after) == {"r1", "r2"}  # after the first run nothing was measured
    assert known.needs_after["r1"].runs == 1
    assert known.needs_after["r2"] == known.phase_needs
    alone = with_phase_needs(Known(RUNS[:2]), project)
    assert known.needs_after["r1"] == alone.phase_needs


def test_a_stay_is_a_share_of_its_run(folder: Path) -> None:
    traces, phases = made_traces(runs=3, seed=5)
    needs = with_phase_needs(Known(RUNS), job(folder, PhasesTable(model="phases.model"), series_of(traces))).phase_needs
    assert needs is not None
    parts = np.split(phases, np.cumsum(traces.lengths)[:-1])
    stays = [1 + int((np.diff(part) != 0).sum()) for part in parts]
    assert needs.stay_share == pytest.approx(3 / sum(stays))


def test_without_a_model_nothing_is_learnt_of_phases(folder: Path) -> None:
    project = job(folder, PhasesTable(), {})
    assert with_needs_after(Known(RUNS), project).needs_after == {}
