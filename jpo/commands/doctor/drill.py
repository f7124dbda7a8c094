"""`jpo doctor --drill`: what docs/reliability.md promises, tried on a copy of the project: its settings, config.ini and store.

Commands are killed and frozen in the midst, meet a full disk and a locked store. No engine, server or file of the user is
touched.
"""

import hashlib
import os
import resource
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import jpo
from jpo.commands.doctor.case import Case
from jpo.errors import JpoError, StoreError
from jpo.history import open_store, verify
from jpo.history.archive import export_lines, import_lines
from jpo.report.doctor import Checkup, Line
from jpo.telemetry.csv.folder import log_files
from jpo.version import __version__

TOPIC, CODE, STORE = "Drill", "JPO-E518", Path(".jpo", "jpo.db")
LONGEST_SECONDS, STUCK_SECONDS = 60.0, 120.0
"""After which no drill is begun; after which a command that goes on is a finding."""
PROGRAM = "import sys; sys.path.insert(0, sys.argv.pop(1)); from jpo.__main__ import main; main()"
COMMANDS: Mapping[str, Sequence[str]] = {
    "suggest": ("suggest", "{config}", "--offline", "--no-learn", "--seed", "1"),
    "observe": ("observe", "jpo-drill", "--metric", "val_loss=0.5", "--for", "{config}", "--offline"),
    "rollback": ("rollback", "{config}"),
    "state gc": ("state", "gc"),
}
KILLED, FROZEN, FULL, LOCKED = "killed", "frozen, a second one at once", "disk full", "store locked"
DRILLS: Sequence[tuple[str, str, float]] = (
    *(("suggest", fault, share) for fault, share in ((KILLED, 0.8), (FROZEN, 0.8), (FULL, 0.0), (LOCKED, 0.0), (KILLED, 0.95))),
    *((name, KILLED, share) for share in (0.8, 0.95) for name in ("rollback", "observe", "state gc")),
    *((name, fault, share) for name in ("rollback", "observe") for fault, share in ((FULL, 0.0), (LOCKED, 0.0), (FROZEN, 0.9))),
    *(("suggest", KILLED, share) for share in (0.5, 0.7, 0.9)),
)
"""Command, fault, and at which share of its undisturbed time; what matters most comes first."""
ENDS = (0, 2, 3, 5, 6)
"""Exit codes that promise something: 1 is a bug."""
PASSED_ON = ("PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "LD_LIBRARY_PATH")
"""Variables that commands get: no token, no password, no server."""


@dataclass(frozen=True)
class Copy:
    """The project's copy: where a command works, and as it is before `suggest`; `config` is relative to both."""

    folder: Path
    prepared: Path
    config: Path

    @property
    def values(self) -> bytes:
        return (self.folder / self.config).read_bytes()

    def renew(self, name: str) -> None:
        """As it is before a command: other ones begin after a `suggest`, so that there is something to undo."""
        shutil.rmtree(self.folder, ignore_errors=True)
        after = self.prepared.with_name("suggested")
        shutil.copytree(after if name != "suggest" and after.exists() else self.prepared, self.folder)

    def start(self, name: str, *, most_bytes: int | None = None) -> subprocess.Popen[bytes]:
        """A command, in a process group of its own. `most_bytes`: of each file, as on a disk that is full."""
        ours = {"JPO_STORE__URL": f"sqlite:///{self.folder / STORE}", "JPO_STORE__TIMEOUT": "2s", "PYTHONDONTWRITEBYTECODE": "1"}
        words = [word.format(config=self.config) for word in COMMANDS[name]]
        limit = None if most_bytes is None else partial(resource.setrlimit, resource.RLIMIT_FSIZE, (most_bytes, most_bytes))
        return subprocess.Popen(  # noqa: S603 - JPO itself
            [sys.executable, "-I", "-c", PROGRAM, str(Path(jpo.__file__).parents[1]), *words],
            cwd=self.folder,
            env={**{key: os.environ[key] for key in PASSED_ON if key in os.environ}, **ours},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,  # it could hold secrets
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            preexec_fn=limit,
        )

    def only_read(self) -> dict[Path, bytes]:
        """All that no command writes: settings and logs."""
        names = {file.relative_to(self.prepared) for file in self.prepared.rglob("*") if file.is_file()} - {self.config, STORE}
        return {name: (self.folder / name).read_bytes() for name in names}


def drill(case: Case, track: Callable[[Sequence[int], str], Iterable[int]], *, seconds: float = LONGEST_SECONDS) -> Checkup:
    """All drills that can be begun in time, below a record of what they were made on."""
    with tempfile.TemporaryDirectory(prefix="jpo-drill-") as folder:
        copy = copied(case, Path(folder))
        digest, now = (
            hashlib.sha256((copy.folder / STORE).read_bytes()).hexdigest(),
            datetime.now(UTC).isoformat(timespec="seconds"),
        )
        host = f"jpo {__version__} on {socket.gethostname()}, {now}"
        lines = [Line("record", "ok", f"{host}; a copy of the project, its store with sha256 {digest}")]
        until, usual = time.monotonic() + seconds, dict[str, tuple[float, Sequence[bytes]]]()
        for name, fault, share in (DRILLS[at] for at in track(range(len(DRILLS)), "Drills")):
            if time.monotonic() < until:
                usual[name] = usual.get(name) or undisturbed(copy, name)
                lines.append(drilled(copy, name, fault, share, *usual[name]))
    if left := len(DRILLS) + 1 - len(lines):
        lines.append(Line("time", "unknown", f"{left} of {len(DRILLS)} drills were not begun within {seconds:g} s"))
    return Checkup(tuple(replace(line, topic=TOPIC) for line in lines), __version__, case.identity)


def copied(case: Case, folder: Path) -> Copy:
    """A copy of settings, config.ini, logs within the project, and the store, whatever database that is."""
    root, config, toml = case.settings.root.resolve(), case.config.resolve(), case.settings.toml
    within = config.is_relative_to(root)
    copy = Copy(folder / "project", folder / "before", config.relative_to(root) if within else Path(config.name))
    logs = [file.resolve() for file in log_files(case.settings.csv_logs) if file.resolve().is_relative_to(root)]
    files = {copy.config: config, **{file.relative_to(root): file for file in logs}}
    if toml is not None:
        files[Path("pyproject.toml" if toml.name == "pyproject.toml" else "jpo.toml")] = toml
    for name, file in files.items():
        (copy.prepared / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, copy.prepared / name)
    (copy.prepared / STORE).parent.mkdir()
    with case.history() as source, open_store(f"sqlite:///{copy.prepared / STORE}") as target:
        if source.audit_records(limit=1):
            import_lines(target, (line.encode() for line in export_lines(source, written_by=__version__)), "copy")
    copy.renew("suggest")
    return copy


def undisturbed(copy: Copy, name: str) -> tuple[float, Sequence[bytes]]:
    """How long a command takes, and config.ini after it, and after it was done twice."""
    copy.renew(name)
    began = time.monotonic()
    code, took, new = ended(copy.start(name)), time.monotonic() - began, copy.values
    if code not in ENDS:
        raise StoreError(f"jpo {name}", f"ends with {code} on a copy, undisturbed", f"see what `jpo {name}` says", code=CODE)
    if name == "suggest":
        shutil.copytree(copy.folder, copy.prepared.with_name("suggested"))
    ended(copy.start(name))
    return took, (new, copy.values)


def drilled(copy: Copy, name: str, fault: str, share: float, seconds: float, new: Sequence[bytes]) -> Line:
    """Make one drill, and hold what is there against what is promised."""
    copy.renew(name)
    old, others, (before, _) = copy.values, copy.only_read(), judged(copy)
    codes, groups = disturbed(copy, name, fault, share * seconds)
    now, (records, broken) = copy.values, judged(copy)
    following, later = ended(copy.start(name)), judged(copy)[1]
    early = ", before it was to be killed" if fault == KILLED and codes != [-signal.SIGKILL] else ""
    promises = {
        f"exit {', '.join(map(str, codes))}{early}": all(
            code in ENDS or (code == -signal.SIGKILL and fault == KILLED) for code in codes
        ),
        f"config.ini is {'the old one' if now == old else 'the new one' if now in new else 'torn'}": now in (old, *new),
        "it was written as the exit code says": 0 not in codes or now in new,
        "settings and logs are as they were": copy.only_read() == others,
        broken or f"{records} audit records verified, {before} before": not broken and records >= before,
        f"the next one ends with {following}": following in ENDS,
        later or "the log verifies after it": not later,
        "nothing is left running": not any([*map(still_there, groups)]),
    }
    what = f"{name}, {fault}{f' at {share:.0%}' if share else ''}"
    if wrong := [promise for promise, kept in promises.items() if not kept]:
        return Line(what, "problem", f"not so: {'; '.join(wrong)}", "report it with this table", CODE, StoreError.exit_code)
    return Line(what, "ok", "; ".join(promises))


def disturbed(copy: Copy, name: str, fault: str, after: float) -> tuple[list[int | None], list[int]]:
    """How the command ended, and a second one beside it; and their process groups."""
    with closing(sqlite3.connect(copy.folder / STORE, isolation_level=None)) as other:
        if fault == LOCKED:
            other.execute("BEGIN EXCLUSIVE")
        processes = [copy.start(name, most_bytes=0 if fault == FULL else None)]
        if fault in (KILLED, FROZEN):
            with suppress(subprocess.TimeoutExpired):
                processes[0].wait(after)
            processes[0].send_signal(signal.SIGKILL if fault == KILLED else signal.SIGSTOP)
        if fault == FROZEN:
            processes.append(copy.start(name))
            ended(processes[1])
            processes[0].send_signal(signal.SIGCONT)
        return [ended(process) for process in processes], [process.pid for process in processes]


def ended(process: subprocess.Popen[bytes]) -> int | None:
    """Exit code of a command; None: it does not end, and is killed."""
    with suppress(subprocess.TimeoutExpired):
        return process.wait(STUCK_SECONDS)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    return None


def still_there(group: int) -> bool:
    """Whether a process of a group is there; it is killed."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)
        return True
    return False


def judged(copy: Copy) -> tuple[int, str]:
    """How many audit records the store has, and what is wrong with it."""
    try:
        with open_store(f"sqlite:///{copy.folder / STORE}", read_only=True) as store:
            verified = verify(store)
    except JpoError as error:
        return 0, f"the store {error.finding}"
    return verified.records, "" if verified.ok else f"audit log: {verified.reason}"
