"""The ledger brought up to date: runs that nobody follows any more, because their launcher was killed, go on record, too."""

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from jpo.errors import JpoError, LaunchError, UsageError
from jpo.history import Store
from jpo.plugins.launch.engines import described, is_installed
from jpo.plugins.launch.job import JobStatus
from jpo.plugins.launch.launcher import Launcher
from jpo.plugins.launch.ledger import Entry, clean_up, entries, read
from jpo.plugins.launch.lifecycle import UNREACHABLE, ask_status, noted
from jpo.plugins.launch.project.engines import launcher_of
from jpo.plugins.launch.project.finished import EndedRun, put_on_record
from jpo.plugins.launch.project.place import ledger_of
from jpo.plugins.launch.settings import launch_table
from jpo.project.load import LoadedSettings
from jpo.project.secrets import set_by_runner
from jpo.records import Note
from jpo.timeouts import NoAnswerInTime, within
from jpo.wording.numbers import counted
from jpo.wording.printable import one_line

LOCAL = "local"
NOT_KNOWN = "JPO-W777"
BY_HAND = (ValueError, TypeError, OSError)
"""What engines raise of an entry into which somebody wrote by hand."""
AWAY = (UNREACHABLE, "JPO-E761", "JPO-E764")
"""What an engine says of itself and not of one run: it cannot be reached, or is not set up on this machine."""


def accounted_for(
    settings: LoadedSettings,
    store: Store,
    environ: Mapping[str, str],
    *,
    now: float,
    engines: Collection[str] = (LOCAL,),
    keep: bool = True,
    known: Sequence[Entry] | None = None,
) -> tuple[EndedRun, ...]:
    """Put on record what has ended since somebody looked: runs of launchers that were killed, and of detached ones.

    Folders of runs that ended longer ago than [launch] keep, and are on record, go. An entry that cannot be read or written, that
    another process is at, or whose engine does not answer, is left for the next time.

    Args:
        engines: those that are asked how their runs go, until one cannot be reached; of the others only ends that somebody saw
            count.
        keep: note in the ledger what is on record, and clean it up.
        known: the entries, where they were read just now.
    """
    ledger, asked = ledger_of(settings), set(engines)
    known, ended = [*entries(ledger)] if known is None else known, []
    for entry in [entry for entry in known if not entry.recorded]:
        try:
            if entry.end is None:
                entry = read(ledger, entry.job.run_id) or entry  # somebody may have seen its end meanwhile
            if entry.end is None and entry.engine in asked:
                launcher = launcher_of(settings, entry.engine, environ=environ, detached=True)
                entry = looked_at(entry, launcher, ledger)[0]
            if entry.end is not None:
                ended.append(put_on_record(entry, ledger, settings, store, now=now, keep=keep))
        except LaunchError as error:
            if error.code in AWAY:
                asked.discard(entry.engine)
        except (UsageError, *BY_HAND):  # settings of its engine
            continue
    if keep and (longest := launch_table(settings).keep):
        clean_up(ledger, known, before=now - longest)
    return tuple(ended)


def ask_others(
    known: Sequence[Entry], settings: LoadedSettings, environ: Mapping[str, str], *, seconds: float
) -> tuple[Note, ...]:
    """What other engines than this machine do not say, asked so long together how their runs go; their ends go to the ledger."""
    asked = dict[str, list[Entry]]()
    for entry in known:
        if entry.end is None and entry.engine != LOCAL:
            asked.setdefault(entry.engine, []).append(entry)
    if not asked:
        return ()
    why = dict.fromkeys(asked, f"no answer within {seconds:g} s")
    with suppress(NoAnswerInTime):
        within(seconds, [partial(_ask, mine, settings, environ, why) for mine in asked.values()])
    notes = list[Note]()
    for engine, said in why.items():
        first, *rest = asked[engine]
        others = f" and {counted(len(rest), 'other run')}" if rest else ""
        text = f"How run {first.job.run_id}{others} ended on {engine} is not known ({said}); `jpo watch` asks again"
        notes += [Note(NOT_KNOWN, text, engine)] if said else []
    return tuple(notes)


def _ask(mine: Sequence[Entry], settings: LoadedSettings, environ: Mapping[str, str], why: dict[str, str]) -> None:
    """Ask one engine how its runs go; `why` gets what it says where it cannot be asked, "" where it can."""
    engine, said = mine[0].engine, ""
    try:
        if not is_installed(engine):  # `jpo watch` says so
            del why[engine]
            return
        for key in described(engine).credentials:
            if not set_by_runner(settings, f"launch.{engine}.{key}"):
                finding = "chooses credentials: only a run, or its watch, uses it"
                raise LaunchError(f"[launch.{engine}] {key}", finding, code=NOT_KNOWN)
        launcher = launcher_of(settings, engine, environ=environ, detached=True)
        for entry in mine:
            try:
                looked_at(entry, launcher, ledger_of(settings))
            except LaunchError as error:
                said = said or error.in_short
                if error.code in AWAY:
                    break
            except BY_HAND as error:
                said = said or f"its entry is damaged: {one_line(str(error))}"
    except JpoError as error:
        said = error.in_short
    why[engine] = said


def looked_at(entry: Entry, launcher: Launcher, ledger: Path) -> tuple[Entry, JobStatus | None]:
    """An entry without an end after a look at its job, and how that goes; None: never submitted. LaunchError as of `noted`."""
    entry = noted(entry, launcher, ledger)
    if entry.engine_id is None or entry.end is not None:
        return entry, entry.end
    status = ask_status(entry, launcher, ledger)
    return read(ledger, entry.job.run_id) or entry, status
