"""`jpo sla`: did runs keep what [sla] promises, and what could be promised? It only reads."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from jpo.cost import Prices
from jpo.cost.sla import Compliance, ComplianceRate, check_run, compliance, measured
from jpo.cost.thresholds import FEWEST, Threshold, thresholds
from jpo.errors import UsageError
from jpo.history import Store
from jpo.history.audit_export import moment
from jpo.inventory.gpus import gpus_here
from jpo.project.collect import collect
from jpo.project.load import LoadedSettings
from jpo.project.project import open_project
from jpo.records import USD, Currency, Identity, Known, Run, SlaCheck, Workload, same
from jpo.report.sla import CheckedRun, Tally, checked_text
from jpo.telemetry import read_log
from jpo.wording import numbers
from jpo.wording.printable import printable

SCHEMA_VERSION = 1
VIOLATED = 3


def check(
    config: Path,
    settings: LoadedSettings,
    *,
    run_id: str | None,
    logs: Sequence[Path],
    form: str,
    now: float,
    environ: Mapping[str, str],
    width: int,
    colour: bool,
) -> tuple[str, int]:
    """Hold a run on record (default: the newest), or those of CSV logs, against [sla]; the text, and the exit code.

    Args:
        environ: says which of this machine's GPUs are visible; they are looked at where gpu_util_min is promised.

    Returns:
        The code is 3 if a checked run broke a promise, else 0.

    Raises:
        UsageError: JPO-E811, nothing is promised; E812, a run and logs were both named; E813, one of another workload was;
            E814, the run is not on record.
    """
    targets = promised(settings)
    if logs and run_id is not None:
        raise UsageError("--csv", "and a RUN exclude each other", "check them one after the other", code="JPO-E812")
    with open_project(config, settings, now=now, read_only=True) as job:
        store, workload, prices = job.store, job.workload, job.prices
        known = collect(job)
        checked = [run.completed(workload.current) for run in wanted(store, known, workload.identity, run_id, logs, now=now)]
    runs = {run.run_id: run.completed(workload.current) for run in (*known.runs, *checked)}
    account = compliance([check_run(targets, run, prices) for run in runs.values()])
    held = [(run, check_run(targets, run, prices)) for run in checked]
    notes = [*known.evidence.notes, *unknown_cost(held), *(gpus_now(environ) if "gpu_util_min" in targets else ())]
    if form == "json":
        text = as_json(workload.identity, targets, held, account, notes, prices)
    else:
        rows = [CheckedRun(run.run_id, ending(run), with_values(run, checks, prices)) for run, checks in held]
        currency, name = job.currency, str(workload.identity)
        text = checked_text(name, rows, tallies(account), notes, runs=len(runs), currency=currency, width=width, colour=colour)
    return text, VIOLATED if any(one.verdict == "broken" for _, checks in held for one in checks) else 0


def promised(settings: LoadedSettings) -> Mapping[str, float]:
    """What [sla] promises, at least one thing."""
    targets = settings.values.sla.targets
    if not targets:
        remedy = "see `jpo sla suggest` for lines that runs would keep"
        raise UsageError(settings.place, "[sla] promises nothing", remedy, code="JPO-E811")
    return targets


def wanted(
    store: Store, known: Known, identity: Identity, run_id: str | None, logs: Sequence[Path], *, now: float
) -> Sequence[Run]:
    """The runs to be checked: those of the logs, the one that was named, or the newest one."""
    if logs:
        return [of_workload(str(path), read_log(path, now=now), identity) for path in logs]
    if run_id is None:
        return known.runs[-1:]
    found = next((run for run in known.runs if run.run_id == run_id), None) or store.run(run_id)
    if found is None:
        raise UsageError(f"RUN {run_id!r}", "is not on record", "see `jpo history`", code="JPO-E814")
    return [of_workload(f"RUN {run_id!r}", found, identity)]


def of_workload(place: str, run: Run, identity: Identity) -> Run:
    """The run, if it is one of this workload: others have promises of their own."""
    if run.identity != identity:
        finding = f"is of {run.identity}, and config.ini of {identity}"
        raise UsageError(place, printable(finding), "name its config.ini by --for", code="JPO-E813")
    return run


def with_values(run: Run, checks: Sequence[SlaCheck], prices: Prices) -> list[tuple[SlaCheck, float | None]]:
    return [(one, measured(one.name, run, prices)) for one in checks]


def unknown_cost(held: Sequence[tuple[Run, Sequence[SlaCheck]]]) -> Iterator[str]:
    timed = [checks for run, checks in held if run.ended_well and run.outcome.duration_seconds is not None]
    if any((one.name, one.verdict) == ("cost_max", "unknown") for checks in timed for one in checks):
        yield "what a run costs is not known without the prices of all that it uses: see [prices]"


def gpus_now(environ: Mapping[str, str]) -> Iterator[str]:
    """How busy the GPUs of this machine are at the moment; nothing where there are none."""
    for gpu in gpus_here(environ):
        busy = numbers.UNKNOWN if gpu.utilisation is None else f"{numbers.percent(gpu.utilisation)} busy"
        yield f"{printable(gpu.name)} of this machine is {busy} now"


def ending(run: Run) -> str:
    """How and when it ended."""
    when = moment(run.ended_at)
    return f"{run.status.value}, {when:%Y-%m-%d %H:%M} UTC" if when else run.status.value


def tallies(account: Compliance) -> list[Tally]:
    """Every promise, then all of them together."""
    single = [*account.targets.items(), ("runs that broke nothing", account.runs)]
    together = Tally("promises of all runs", account.pairs.kept, account.pairs.known)
    return [*(Tally(what, kept.kept, kept.known, kept.share) for what, kept in single), together]


def as_json(
    identity: Identity,
    targets: Mapping[str, float],
    held: Sequence[tuple[Run, Sequence[SlaCheck]]],
    account: Compliance,
    notes: Sequence[str],
    prices: Prices,
) -> str:
    """The same for machines; what is not known is null."""

    def counted(kept: ComplianceRate) -> dict[str, Any]:
        return {"kept": kept.kept, "known": kept.known, "share": kept.share and asdict(kept.share)}

    document = {
        "schema_version": SCHEMA_VERSION,
        "workload": asdict(identity),
        "promises": dict(targets),
        "runs": [
            {
                "run_id": run.run_id,
                "status": run.status.value,
                "ended_at": run.ended_at,
                "checks": [{**asdict(one), "measured": value} for one, value in with_values(run, checks, prices)],
            }
            for run, checks in held
        ],
        "compliance": {
            "runs": counted(account.runs),
            "pairs": {"kept": account.pairs.kept, "known": account.pairs.known},
            "promises": {name: counted(account.targets.get(name, ComplianceRate(0, 0))) for name in targets},
        },
        "notes": list(notes),
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def suggest(config: Path, settings: LoadedSettings, *, share: float, form: str, now: float, width: int, colour: bool) -> str:
    """Lines for [sla] that this share of runs like the last ones would keep, each promise by itself."""
    if not 0.5 <= share < 1:  # click lets nan pass
        raise UsageError("--keep", f"{share} is no share of runs", "write e.g. 0.95", code="JPO-E305")
    with open_project(config, settings, now=now, read_only=True) as job:
        workload, known = job.workload, collect(job)
    runs, basis = baseline(known.runs, workload)
    found = list(thresholds([run.completed(workload.current) for run in runs], job.prices, share=share))
    if form == "json":
        document = {
            "schema_version": SCHEMA_VERSION,
            "workload": asdict(workload.identity),
            "share": share,
            "runs": len(runs),
            "basis": basis,
            "thresholds": [{**asdict(one), "written": None if one.limit is None else written(one)} for one in found],
            "notes": list(known.evidence.notes),
        }
        return json.dumps(document, indent=2, ensure_ascii=False) + "\n"
    return as_toml(workload.identity, runs, basis, found, share, job.currency, known.evidence.notes)


def baseline(runs: Sequence[Run], workload: Workload) -> tuple[Sequence[Run], str]:
    """The runs that ended well with today's values if there are enough, else all that ended well; and which they are."""
    well = [run for run in runs if run.ended_well]
    today = [run for run in well if run.parameters and same(run.parameters, workload.current)]
    return (today, "with today's values") if len(today) >= FEWEST else (well, "with any values")


def as_toml(
    identity: Identity,
    runs: Sequence[Run],
    basis: str,
    found: Sequence[Threshold],
    share: float,
    currency: Currency,
    notes: Sequence[str],
) -> str:
    """Lines to paste into jpo.toml; what cannot be told is a comment."""
    head = [
        f"# {identity}: {len(runs)} run{'' if len(runs) == 1 else 's'} that ended well {basis}",
        f"# each line by itself is expected to be kept by {100 * share:g}% of runs like them",
        *(f"# {note}" for note in notes),
    ]
    lines = [(f"{one.name} = {written(one)}", seen(one, currency)) for one in found if one.limit is not None]
    wide = max((len(line) for line, _ in lines), default=0)
    unknown = [f"# {one.name}: unknown, {one.why_not}{seen_at_all(one, currency)}" for one in found if one.limit is None]
    return "\n".join(map(printable, [*head, "[sla]", *(f"{line:{wide}}   # {told}" for line, told in lines), *unknown])) + "\n"


def seen(one: Threshold, currency: Currency) -> str:
    """In how many runs it was measured, and between which values."""
    assert one.least is not None
    assert one.most is not None
    least, most = (numbers.written(one.name, value, currency) for value in (one.least, one.most))
    limit = "in USD; " if one.name == "cost_max" and currency != USD else ""
    return f"{limit}{one.runs} run{'' if one.runs == 1 else 's'}, {least}" + (f" to {most}" if most != least else "")


def seen_at_all(one: Threshold, currency: Currency) -> str:
    return "" if one.least is None else f" ({seen(one, currency)})"


def written(one: Threshold) -> str:
    """The limit as TOML: durations in the largest unit that divides them."""
    assert one.limit is not None
    if one.name != "time_max":
        return f"{one.limit:.10g}"
    unit, size = next((unit, size) for unit, size in (("h", 3600), ("m", 60), ("s", 1)) if size == 1 or one.limit % size == 0)
    return f'"{f"{one.limit / size:.6f}".rstrip("0").rstrip(".")}{unit}"'
