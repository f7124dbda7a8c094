"""Will the store outlive the job, can it be written, is what it holds whole, and did the newest runs use their GPUs?"""

import os
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from jpo.commands.doctor.case import Case, exists
from jpo.errors import StoreError
from jpo.history import Store, verify
from jpo.history.following.contradictions import contradictions
from jpo.inventory.caller import author_of
from jpo.inventory.idle_gpus import diagnose
from jpo.project.checkout.branch import kept_from_exploring
from jpo.project.checkout.in_force import NOT_USABLE, start_of
from jpo.project.checkout.root import about_its_place
from jpo.project.collect import LEDGER_RUNS
from jpo.project.project import open_history
from jpo.project.secrets import check_store
from jpo.project.workload import limits_of
from jpo.report.doctor import Line
from jpo.telemetry.diagnosis.similar_names import span
from jpo.wording.contradictions import WITHIN, sentences
from jpo.wording.numbers import counted, percent

WORKSPACES = ("GITHUB_WORKSPACE", "CI_PROJECT_DIR", "WORKSPACE")
"""Variables that name the folder which a pipeline throws away with its job: GitHub, GitLab, Jenkins."""
CLOCKS_SECONDS = 60.0
"""How far clocks may differ before that is said."""
NEWEST = 5
"""Runs whose GPUs are looked at: what was wrong with earlier ones has been fixed, or shows in these."""


def place(case: Case) -> Iterator[Line]:
    """Where the store is, whether it can be written there, and whether it outlives the job."""
    file = case.settings.store_file
    if file is None:
        yield Line("place", "ok", case.settings.store_place)
        return
    if blocked := not_writable(file):
        finding = "cannot be written" if blocked == file or blocked.is_dir() else "is not a folder"
        raise StoreError(str(blocked), finding, "check folder and owner", code="JPO-E504")
    check_store(case.settings)
    size = f"{file.stat().st_size / 2**20:.1f} MiB" if file.exists() else "does not exist yet: the first run makes it"
    yield Line("place", "ok", f"{file}, {size}")
    for note in about_its_place(case.settings.store_beside, case.settings.store_at_root):
        yield Line("root", "warning", note.finding, note.remedy, note.code)
    where = [case.settings.root, *(Path(case.environ[name]) for name in WORKSPACES if case.environ.get(name))]
    in_workspace = any(Path(os.path.realpath(file)).is_relative_to(os.path.realpath(folder)) for folder in where)
    if author_of(case.environ)["where"] != "local" and in_workspace:
        finding = "is in the pipeline's workspace, which is gone after the job"
        remedy = "State lives in PostgreSQL or an object the team owns; CI caches are for trying out"
        yield Line("lasting", "warning", finding, remedy, "JPO-W149")


def not_writable(file: Path) -> Path | None:
    """What keeps JPO from writing a file or the files that SQLite puts next to it; None if nothing does."""
    folder = next(path for path in file.parents if exists(path))
    if not (folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)):
        return folder
    return file if exists(file) and not os.access(file, os.W_OK) else None


def record(case: Case) -> Iterator[Line]:
    """Whether the store opens, what is on record, and what is in force."""
    file = case.settings.store_file
    if file and not exists(file):
        return
    with open_history(case.settings, read_only=True) as store:
        yield runs_in(store, case)
        yield from in_force(store, case)
        yield from as_given(store, case)
        verified = verify(store)
    if verified.ok:
        yield Line("audit log", "ok", f"{counted(verified.records, 'record')}, chain intact, head {verified.head}")
    else:
        remedy = "restore the store from a backup; what follows this record cannot be trusted"
        yield Line("audit log", "problem", str(verified.reason), remedy, "JPO-E511", StoreError.exit_code)


def in_force(store: Store, case: Case) -> list[Line]:
    """Which values and how much boldness `jpo suggest` starts with here, where it is not what the file and jpo.toml say."""
    if case.identity is None:
        return []
    _, notes = start_of(case.workload, store, case.settings, limits_of(case.settings), now=case.now)
    notes = (*notes, *kept_from_exploring(case.settings))
    return [Line("in force", "warning" if note.code == NOT_USABLE else "ok", note.text, "", note.code) for note in notes]


def gpus_at_work(case: Case) -> Iterator[Line]:
    """Whether the newest runs made use of the GPUs that they had; nothing where that was not measured."""
    with case.history() as store:  # first: settings that cannot be read get a line of this check, too
        recorded = store.recorded_runs(case.identity, limit=LEDGER_RUNS) if case.identity else ()
        runs = [entry.run for entry in recorded]
        newest = [run for run in runs if run.parameters.get("gpus") and run.outcome.gpu_utilisation is not None][-NEWEST:]
        diagnoses = [diagnose(run, store.series_of(run), runs) for run in newest]
    if not newest:
        return
    if idle := diagnoses[-1]:
        often = f" (idle in {len(diagnoses) - diagnoses.count(None)} of the last {counted(len(diagnoses), 'run')})"
        yield Line("GPUs at work", "warning", f"{idle.finding}{often}", idle.remedy, idle.code)
    else:
        busy = median(run.outcome.gpu_utilisation or 0.0 for run in newest)
        yield Line("GPUs at work", "ok", f"GPU utilisation {percent(busy)} (median of the last {counted(len(newest), 'run')})")


def as_given(store: Store, case: Case) -> list[Line]:
    """Each parameter that the newest runs report otherwise than it was given; nothing where all report it as it was."""
    if case.identity is None:
        return []
    now = case.workload.current
    notes = sentences(contradictions(store, case.identity, now), now)
    return [Line("as given", "ok" if note.code == WITHIN else "warning", note.finding, note.remedy, note.code) for note in notes]


def runs_in(store: Store, case: Case) -> Line:
    """How many runs are on record, and how old the newest is."""
    newest, numbers = store.recorded_runs(case.identity, limit=1), store.numbers_of_runs()
    whose = f" of {case.identity}" if case.identity else ""
    if not newest:
        return Line("record", "ok", f"opens; no run{whose} on record")
    runs = numbers[case.identity] if case.identity else sum(numbers.values())
    early = newest[0].run.ended_at - case.now
    if early > CLOCKS_SECONDS:
        finding = f"opens; the newest run{whose} ended {span(early)} after now"
        why = "this machine's clock is slow, or the job's is fast"
        return Line("record", "warning", f"{finding}: {why}", "let NTP set both", "JPO-W140")
    age = span(max(0.0, -early))
    return Line("record", "ok", f"opens; {counted(runs, 'run')}{whose}, the newest ended {age} ago")
