"""Ledger of launched runs: one folder each below `.jpo/launches`, in which launch.json says what was asked and what came of it.

    .jpo/launches/RUN_ID/launch.json    Entry: intent, the engine's id, the end, whether it is on record
    .jpo/launches/RUN_ID/config.ini     the file as it was given to the run
    .jpo/launches/RUN_ID/output.log     what its processes printed, for the user alone (mode 600): it may hold secrets
    .jpo/launches/RUN_ID/runs/          its run log (JPO_RUNLOG_DIR)

    .jpo/launches/.past/RUN_ID.json     the same as launch.json, of a run that is long over and whose folder was cleaned up: its
                                        id is never used again, and whoever looks for it finds it

launch.json is replaced whole and under a lock: two pipelines with one run id start it once. Killed at any instant, an entry says
at least what was intended, and a run is in its folder, in its small file, or in both; what is half removed goes with the next
clean-up.
"""

import fcntl
import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from jpo.errors import LaunchError, UsageError, quoted, words_of
from jpo.files import whole
from jpo.files.reading import contents, json_object
from jpo.plugins.launch.job import RUN_ID, JobState, JobStatus, LaunchJob, Needs
from jpo.records import Identity, RunStatus, plain_values, value_of

SCHEMA_VERSION = 1
LARGEST_BYTES = 2**20
AMOUNTS = ("started_at", "ended_at", "starts_at", "memory_gib", "cpu_seconds")
"""Of an end: what is a number or not known."""
LARGEST_AMOUNT = 1e15
TAKEN = "JPO-E785"
PAST = ".past"
GOING = ".going-"
"""Beginning of the name that a folder has while it is removed: no run's."""
DAMAGED = "move its folder away; the run then is unknown to JPO"


@dataclass(frozen=True, slots=True)
class Entry:
    """Account of one launched run.

    Attributes:
        asked_at: unix seconds of the intent.
        engine_id: the engine's id of it; None: it was never submitted, or nobody knows.
        end: how it ended; None: it goes on, as far as is known.
        recorded: whether its run is in the history.
    """

    job: LaunchJob
    engine: str
    asked_at: float
    engine_id: str | None = None
    end: JobStatus | None = None
    recorded: bool = False


def folder_of(ledger: Path, run_id: str) -> Path:
    """The folder of a run; LaunchError JPO-E751 for what cannot be the id of one."""
    if not RUN_ID.fullmatch(run_id):
        remedy = "`jpo watch` lists the runs that were launched here"
        raise LaunchError(quoted(run_id), "is not a run id", remedy, code="JPO-E751")
    return ledger / run_id


def output_of(ledger: Path, run_id: str) -> Path:
    """Where stands what a run printed."""
    return folder_of(ledger, run_id) / "output.log"


@contextmanager
def locked(folder: Path, *, wait: bool = True) -> Iterator[None]:
    """The folder of a run, made where it is missing, for one process at a time; the others wait.

    Raises LaunchError: JPO-E752, it cannot be made; JPO-E785, another process has it, where nobody is to wait.
    """
    with ExitStack() as stack:
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            stack.callback(os.close, lock)
            fcntl.flock(lock, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError as error:  # of the lock alone, and of nothing that happens under it
            remedy = "wait for it, or end it: what it did so far is kept, and run the same command again to continue"
            raise LaunchError(folder.name, "another process is at it", remedy, code=TAKEN) from error
        except OSError as error:
            finding = f"cannot be written ({error.strerror})"
            raise LaunchError(str(folder), finding, "check disk and mode", code="JPO-E752") from error
        yield


def write(ledger: Path, entry: Entry) -> None:
    """Put an entry on disk, under the lock of its run; LaunchError JPO-E752 as in `put`."""
    put(folder_of(ledger, entry.job.run_id) / "launch.json", json.dumps(_as_json(entry), indent=1).encode())


def make_folder(folder: Path) -> None:
    """A folder within that of a run, for the user alone, where it is missing; LaunchError JPO-E752 where it cannot be made."""
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        finding = f"cannot be written ({error.strerror})"
        raise LaunchError(str(folder), finding, "check disk and mode", code="JPO-E752") from error


def put(file: Path, content: bytes) -> None:
    """Write a file of a run, for the user alone; LaunchError JPO-E752 where it cannot be, and what stood there still does."""
    try:
        with whole(file, mode=0o600) as new:
            new.write(content)
    except UsageError as error:
        remedy = "check disk and mode; nothing is lost, and the next command continues from there"
        raise LaunchError(error.place, error.finding, remedy, code="JPO-E752") from error


def read(ledger: Path, run_id: str) -> Entry | None:
    """The entry of a run, also of one whose folder was cleaned up; None where none was ever launched here.

    LaunchError JPO-E752 where it is damaged, or of another version.
    """
    file = past_file(ledger, run_id) if is_past(ledger, run_id) else folder_of(ledger, run_id) / "launch.json"
    if not file.exists():
        return None
    refusal = partial(LaunchError, str(file), remedy=DAMAGED, code="JPO-E752")
    try:
        return _entry(json_object(contents(file, LARGEST_BYTES, refusal)))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise refusal(f"is damaged ({type(error).__name__}: {words_of(error)})") from error


def is_past(ledger: Path, run_id: str) -> bool:
    """Whether the folder of a run was cleaned up: its entry is all that is left here."""
    return not (folder_of(ledger, run_id) / "launch.json").exists() and past_file(ledger, run_id).exists()


def past_file(ledger: Path, run_id: str) -> Path:
    """Where the entry of a run stands once its folder was cleaned up; LaunchError JPO-E751 as in `folder_of`."""
    return folder_of(ledger, run_id).parent / PAST / f"{run_id}.json"


def entries(ledger: Path, on_error: Callable[[LaunchError], object] = lambda _error: None) -> Iterator[Entry]:
    """All entries by their run ids, without those whose folders were cleaned up; `on_error` gets the error of a damaged one."""
    try:
        found = sorted(ledger.glob("[!.]*/launch.json"))
    except OSError as error:
        raise LaunchError(str(ledger), f"cannot be read ({error.strerror})", "check the disk", code="JPO-E752") from error
    for file in found:
        try:
            if (entry := read(ledger, file.parent.name)) is not None:
                yield entry
        except LaunchError as error:
            on_error(error)


def clean_up(ledger: Path, known: Iterable[Entry], *, before: float) -> None:
    """Remove the folders of runs that are on record and ended before this moment, in unix seconds.

    One that goes on, is not on record, is damaged, or that another process is at, stays; so does a folder that somebody has put
    elsewhere, behind a link, and all where the disk refuses.
    """
    for left in ledger.glob(f"{GOING}*"):
        shutil.rmtree(left, ignore_errors=True)
    for entry in known:
        if _is_over(entry, before):
            with suppress(LaunchError, OSError):
                _remove(ledger, entry.job.run_id, before)


def _is_over(entry: Entry, before: float) -> bool:
    """Whether nobody needs its folder. A run ends, for this, not before it was asked for: it may never have started, or its node
    may have a clock of its own."""
    return entry.recorded and entry.end is not None and max(entry.end.ended_at or 0.0, entry.asked_at) < before


def _remove(ledger: Path, run_id: str, before: float) -> None:
    folder, going = folder_of(ledger, run_id), ledger / f"{GOING}{run_id}"
    if is_past(ledger, run_id) or folder.is_symlink():  # another process was faster: its lock would make the folder anew
        return
    with locked(folder, wait=False):
        found = read(ledger, run_id)
        if found is None or not _is_over(found, before):
            return
        make_folder(ledger / PAST)
        put(past_file(ledger, run_id), (folder / "launch.json").read_bytes())
        folder.rename(going)
    shutil.rmtree(going, ignore_errors=True)


def _as_json(entry: Entry) -> dict[str, Any]:
    job = entry.job
    described = {
        "run_id": job.run_id,
        "identity": job.identity.labels,
        "command": job.command,
        "folder": str(job.folder),
        "environment": dict(job.environment),
        "needs": asdict(job.needs),
        "parameters": plain_values(job.parameters),
        "longest_seconds": job.longest_seconds,
    }
    return {"schema_version": SCHEMA_VERSION, **asdict(replace(entry, job=None)), "job": described}  # type: ignore[arg-type]


def _entry(found: Mapping[str, Any]) -> Entry:
    if found["schema_version"] != SCHEMA_VERSION:
        raise ValueError(f"schema_version is {quoted(found['schema_version'])}, not {SCHEMA_VERSION}")
    job, end = dict(found["job"]), found["end"]
    job |= {
        "identity": Identity(**job["identity"]),
        "command": tuple(job["command"]),
        "folder": Path(job["folder"]),
        "needs": Needs(**job["needs"]),
        "parameters": {name: value_of(_plain(value)) for name, value in job["parameters"].items()},
    }
    if end is not None:
        amounts = {name: None if end[name] is None else _amount(end[name]) for name in AMOUNTS}
        ended_as = None if end["ended_as"] is None else RunStatus(end["ended_as"])
        words = {name: str(end[name]) for name in ("reason", "place")}
        end = JobStatus(**{**end, **amounts, **words, "state": JobState(end["state"]), "ended_as": ended_as})
    engine_id = None if found["engine_id"] is None else str(found["engine_id"])
    return Entry(LaunchJob(**job), str(found["engine"]), _amount(found["asked_at"]), engine_id, end, found["recorded"] is True)


def _amount(value: Any) -> float:
    number = float(value)
    if not 0 <= number <= LARGEST_AMOUNT:
        raise ValueError(f"{number} is not an amount")
    return number


def _plain(value: Any) -> Any:
    if not isinstance(value, str | int | float):
        raise TypeError(f"{quoted(value)} is not a value of a parameter")
    return value
