"""`jpo sla`: did runs keep what [sla] promises, and what could be promised? Only `suggest --write` writes, into jpo.toml."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from jpo.config import caveats
from jpo.cost.sla import check_run, compliance, measured
from jpo.cost.thresholds import FEWEST, thresholds
from jpo.errors import UsageError
from jpo.history import RecordedRun
from jpo.history.following.contradictions import behind
from jpo.history.undo import in_effect
from jpo.inventory.gpus import gpus_here
from jpo.optimizer.before_and_after import as_they_ran
from jpo.project.collect import collect
from jpo.project.load import LoadedSettings, allow, promised_elsewhere
from jpo.project.project import Project, open_project, targets_of
from jpo.project.sources import own_names
from jpo.project.tables.toml_writer import TomlLine, put_in
from jpo.records import Identity, Known, Run, Workload, same, uncoded
from jpo.report.sla import CheckedRun, SlaProposal, SlaReport, WrittenLines, seen
from jpo.telemetry.csv.log import read_log
from jpo.wording import numbers
from jpo.wording.printable import printable


def check(
    config: Path, settings: LoadedSettings, run_id: str | None, logs: Sequence[Path], *, now: float, environ: Mapping[str, str]
) -> SlaReport:
    """Hold runs against [sla]; where nothing is promised, nothing is violated.

    `run_id`: of one on record; None: the runs of `logs`, or without them the newest on record. `environ`: says which of this
    machine's GPUs are visible; they are asked where gpu_util_min is promised.

    Raises UsageError: JPO-E813, a run of another workload was named; E814, it is not on record.
    """
    targets = targets_of(settings)
    with open_project(config, settings, now=now, read_only=True, judges=False) as job:
        workload, prices, known = job.workload, job.prices, collect(job)
        asked = runs_of(job, known, run_id, logs)
        runs = as_known(job, (*known.runs, *asked))
    checked = [runs[run.run_id] for run in asked]
    held = [
        CheckedRun(run, [(verdict, measured(verdict.name, run, prices)) for verdict in check_run(targets, run, prices)])
        for run in checked
    ]
    here = gpus_now(environ) if "gpu_util_min" in targets else ()
    notes = (*known.evidence.notes, *uncoded((*unknown_cost(held), *here)))
    account = compliance(check_run(targets, run, prices) for run in runs.values())
    return SlaReport(workload.identity, targets, held, account, len(runs), notes, job.currency)


def runs_of(job: Project, known: Known, run_id: str | None, logs: Sequence[Path]) -> Sequence[Run]:
    """The runs to be checked."""
    identity = job.workload.identity
    if logs:
        own = own_names(job.settings)
        return [require_workload(str(path), read_log(path, now=job.now, own=own), identity) for path in logs]
    if run_id is None:
        return known.runs[-1:]
    run = next((run for run in known.runs if run.run_id == run_id), None) or job.store.run(run_id)
    if run is None:
        raise UsageError(f"RUN {run_id!r}", "is not on record", "see `jpo history`", code="JPO-E814")
    return [require_workload(f"RUN {run_id!r}", run, identity)]


def as_known(job: Project, runs: Sequence[Run]) -> dict[str, Run]:
    """Runs of the workload by id, with the parameters that they do not report: as in `jpo report`, which judges them, too."""
    store, workload = job.store, job.workload
    suggestions = store.suggestions_of(workload.identity)
    followed = {entry.run.run_id: entry.suggestion_id for entry in store.recorded_runs(workload.identity)}
    last = {run.run_id: run for run in runs}.values()
    entries = [RecordedRun(run, followed.get(run.run_id) or behind(run, suggestions), job.now) for run in last]
    effective = in_effect(store, workload.identity, entries)
    return {run.run_id: run for run in as_they_ran(effective, entries, workload.current)}


def require_workload(place: str, run: Run, identity: Identity) -> Run:
    """The run, if it is one of this workload: others have promises of their own."""
    if run.identity != identity:
        finding = f"is of {run.identity}, and config.ini of {identity}"
        raise UsageError(place, printable(finding), "name its config.ini", code="JPO-E813")
    return run


def unknown_cost(checked: Sequence[CheckedRun]) -> Iterator[str]:
    """That prices are missing, where a run that took its time has no cost."""
    timed = [run for run in checked if run.run.ended_well and run.run.outcome.duration_seconds is not None]
    if any("cost_max" in run.with_verdict("unknown") for run in timed):
        yield "what a run costs is not known without the prices of all that it uses: see [prices]"


def gpus_now(environ: Mapping[str, str]) -> Iterator[str]:
    """The utilisation of this machine's GPUs at the moment; nothing where there are none."""
    for gpu in gpus_here(environ):
        utilisation = numbers.UNKNOWN if gpu.utilisation is None else numbers.percent(gpu.utilisation)
        yield f"{printable(gpu.name)} of this machine: GPU utilisation {utilisation} now"


def suggest(config: Path, settings: LoadedSettings, *, share: float, now: float) -> SlaProposal:
    """Lines for [sla] that this share of runs like the last ones would keep, each promise by itself."""
    if not 0.5 <= share < 1:  # click lets nan pass
        raise UsageError("--keep", f"{share} is not a share of runs", "write e.g. 0.95", code="JPO-E305")
    with open_project(config, settings, now=now, read_only=True, judges=False) as job:
        workload, known = job.workload, collect(job)
        whole = as_known(job, known.runs)
    runs, basis = baseline(known.runs, workload)
    proposed = list(thresholds([whole[run.run_id] for run in runs], job.prices, share=share))
    return SlaProposal(workload.identity, share, len(runs), basis, proposed, known.evidence.notes, job.currency)


def write(config: Path, settings: LoadedSettings, proposal: SlaProposal, *, replace_old: bool) -> SlaProposal:
    """Put the lines into jpo.toml; what is promised already stays, unless `replace_old`.

    Raises UsageError: JPO-E301, JPO-E302, JPO-E307, jpo.toml cannot be read, would contradict itself, or cannot be written;
    EditError: JPO-E226, it cannot be changed without loss; JPO-E220, somebody else changes it.
    """
    file = settings.toml or config.parent / "jpo.toml"
    promised = {} if replace_old else promised_elsewhere(settings)
    stated = [(each, each.toml) for each in proposal.thresholds if each.toml is not None]
    lines = {each.name: TomlLine(text, printable(seen(each, proposal.currency))) for each, text in stated}
    new = {name: line for name, line in lines.items() if name not in promised}
    allow(settings, {name: line.value for name, line in new.items()}, replace_old=replace_old, file=file)
    links = caveats(file)
    done = put_in(file, "sla", new, replace=replace_old)
    kept = [name for name in lines if name in done.kept or name in promised]
    return replace(proposal, written=WrittenLines(str(file), done.put, kept, links if done.put else ()))


def baseline(runs: Sequence[Run], workload: Workload) -> tuple[Sequence[Run], str]:
    """The runs that ended well with today's values if there are enough, else all that ended well; and which they are."""
    well = [run for run in runs if run.ended_well]
    today = [run for run in well if run.parameters and same(run.parameters, workload.current)]
    return (today, "with today's values") if len(today) >= FEWEST else (well, "with any values")
