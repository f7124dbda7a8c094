"""Commands that write, each in one description: what it begins from, its words, and what must be true after a fault."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from apparatus.fault_bench import ROOT, Bench, Command
from apparatus.faults import NOT_OURS

sys.path.append(str(ROOT / "tests"))  # code_hosts.py

SUGGEST = ("suggest", "config.ini", "--no-learn", "--explore", "off")
OLD_RUNS = 2600
"""On record before `state gc`, which keeps the newest 2,300 and those that tell something."""
TABLE = "name,state,start,runtime (s),batch_size,learning_rate,val_loss\n" + "".join(
    f"table-{day},finished,2026-01-0{day}T10:00:00Z,{50 + day},32,0.01,0.4\n" for day in (1, 2, 3)
)
SCRIPT = """\
echo "$JPO_RUN_ID" >> started.txt
now=$(date +%s)
cat > "$JPO_RUNLOG_DIR/$JPO_RUN_ID.csv" <<END
# run_id=$JPO_RUN_ID
# dataset=digits
# model=cnn
# framework=pytorch
# batch_size=$JPO_BATCH_SIZE
# learning_rate=0.003
# num_layers=2
# epochs=40
# cpus=1
# gpus=0
# start=$now
time,epoch,samples,train_loss,val_loss,val_accuracy
$((now + 1)),1,1500,LOSS,LOSS,0.98
END
"""
"""A training that ends at once, and says that it took a second."""
ENDS = "printf '# end=%s\\n# status=succeeded\\n' $((now + 1)) >> \"$JPO_RUNLOG_DIR/$JPO_RUN_ID.csv\"\n"
GOES_ON = "sleep 600\n"
RUN = "fault-1"
HELD_BY_LAUNCHES: Sequence[Any] = ("jpo", "supervisor")
LAUNCH_CODES = (0, 2, 3, 4, 5, 6, 7, -9)
QUIET_SECONDS = 30.0
"""Within which what a launched run left behind is gone."""


def suggested(place: Bench) -> None:
    place.jpo(*SUGGEST)


def with_what_is_old(place: Bench) -> None:
    """Time series and runs on record that `state gc` forgets; on a server series alone: how many reads 2,600 runs take varies."""
    from jpo.history import open_store
    from jpo.records import Finished, Series

    suggested(place)
    place.set(JPO_STORE__KEEP_RUNS="2300", JPO_STORE__KEEP_SERIES="1s")
    with open_store(place.store_url) as store:
        run = store.recorded_runs()[-1].run
        runs = OLD_RUNS if place.server is None else 0
        old = [replace(run, run_id=f"old-{at}", started_at=None, ended_at=run.ended_at - 1e6 + at) for at in range(runs)]
        series = Series(run.run_id, "cpu_cores", (1.0, 2.0), (0.5, 0.6))
        store.record(Finished((*old, run), (series,)), now=run.ended_at)


def on_record(place: Bench) -> dict[str, str]:
    """How each run on record ended, by its id."""
    from jpo.history import open_store

    with open_store(place.store_url, read_only=True) as store:
        return {each.run.run_id: each.run.status.value for each in store.recorded_runs()}


def in_store(place: Bench) -> dict[str, object]:
    """Runs, and how long the audit log is."""
    from jpo.history import open_store

    with open_store(place.store_url, read_only=True) as store:
        return {"store": (len(store.recorded_runs()), len([*store.audit_rows()]))}


def files(*names: str) -> Callable[[Bench], Mapping[str, object]]:
    def found(place: Bench) -> dict[str, object]:
        return {name: (place.folder / name).read_bytes() if (place.folder / name).exists() else None for name in names}

    return found


def exported(place: Bench) -> None:
    """A project whose store is lost, and its export."""
    suggested(place)
    place.jpo("state", "export", "backup.jsonl")
    place.empty_store()


def not_set_up(place: Bench) -> None:
    """A repository with a config.ini alone."""
    (place.folder / "jpo.toml").unlink()
    (place.folder / ".git").mkdir()


def with_table(place: Bench) -> None:
    (place.folder / "table.csv").write_text(TABLE, encoding="utf-8")


def at_a_code_host(words: tuple[str, ...], variables: str, facts: Callable[[Any], Mapping[str, object]]) -> Command:
    """A command that writes to a merge request of a double of GitLab, which is as it was each time."""
    hosts = []

    def prepare(place: Bench) -> None:
        from code_hosts import code_host

        committed = place.config
        place.jpo(*SUGGEST, "--output-file", "s.json")
        hosts.append(place.closing.enter_context(code_host("gitlab")))
        hosts[-1].committed = committed

    def begin(place: Bench) -> None:
        from repositories import GitRepository

        host = hosts[-1]
        host.notes.clear()
        host.repository = GitRepository()
        commit = host.repository.commit("main", {"config.ini": host.committed}, "first")
        place.set(**(host.environment(place.folder) if variables == "merge request" else host.nightly(place.folder, commit)))

    return Command(words, prepare, begin, lambda _: facts(hosts[-1]), codes=(0, 2, 4, 5, -9))


def proposed(host: Any) -> dict[str, object]:
    """What each branch has, and which merge requests are open: the branch is there first."""
    git = host.repository
    branches = {branch: git.file(branch, "config.ini") for branch in git.branches}
    return {"branches": branches, "merge requests": [(one.source, one.title) for one in git.open]}


def briefly(place: Bench) -> None:
    """Learn from the runs on record, and test for a moment."""
    import jpo.commands.learn
    import jpo.learning.scenarios

    suggested(place)
    for module, name, value in ((jpo.commands.learn, "SAVED_SECONDS", 1e9), (jpo.learning.scenarios, "RUNS", 4)):
        place.closing.callback(setattr, module, name, getattr(module, name))
        setattr(module, name, value)


def launching(place: Bench, script: str = SCRIPT + ENDS, loss: str = "0.2") -> None:
    """A script to run, and leases that no other test takes."""
    from jpo.plugins.launch.engines.local import leases

    (place.folder / "train.sh").write_text(script.replace("LOSS", loss), encoding="utf-8")
    config = place.folder / "config.ini"
    config.write_bytes(place.config.replace(b"cpus            = 2", b"cpus            = 1"))
    place.closing.callback(setattr, leases, "usual_folder", leases.usual_folder)
    leases.usual_folder = lambda: place.folder / "leases"


def launching_with_history(place: Bench) -> None:
    suggested(place)
    launching(place)


def launched(place: Bench, code: int | None, following: bool) -> list[str]:
    """Nothing is started twice or left running, and in the end all is on record as it ended."""
    from jpo.plugins.launch.engines.local.processes import marked
    from jpo.plugins.launch.engines.local.state_file import read_state
    from jpo.plugins.launch.ledger import entries

    found, ledger = [], place.folder / ".jpo" / "launches"
    states = [state for folder in ledger.glob("[!.]*") if (state := read_state(folder)) is not None]
    if left := left_of(states):
        found.append(f"left running: {left}")
    with suppress(FileNotFoundError):
        started = (place.folder / "started.txt").read_text(encoding="utf-8").split()
        if len(started) != len(set(started)):
            found.append(f"started twice: {started}")
    broken: list[str] = []
    known = [*entries(ledger, lambda error: broken.append(str(error)))]
    found += broken
    if following and (open_ones := [entry.job.run_id for entry in known if entry.end is None or not entry.recorded]):
        found.append(f"ended with {code}, and not known to be over and on record: {open_ones}")
    if any(marked(state.token) for state in states):
        found.append("left running")
    return found


def left_of(states: Sequence[Any]) -> list[int]:
    """Processes of runs that are still there after a while."""
    from jpo.plugins.launch.engines.local.processes import born, marked

    until = time.monotonic() + QUIET_SECONDS
    while True:
        left = [pid for state in states for pid in marked(state.token)]
        left += [state.supervisor for state in states if state.supervisor and born(state.supervisor) == state.born is not None]
        if not left or time.monotonic() > until:
            return left
        time.sleep(0.02)


def one_run(place: Bench, code: int | None, following: bool) -> list[str]:
    found, status = launched(place, code, following), on_record(place).get(RUN)
    if code == 0 and status != "succeeded":
        found.append(f"ended with 0, and the run is on record as {status}")
    if following and code == 7 and status == "succeeded" and not why(place):
        found.append(f"ended with {code}, and the run is on record as {status}")
    return found


def why(place: Bench) -> str:
    """Why the run was ended, as the ledger has it: it may have closed its log just before, which then says that all was well."""
    from jpo.plugins.launch.ledger import read

    entry = read(place.folder / ".jpo" / "launches", RUN)
    return entry.end.reason if entry and entry.end else ""


def two_runs(place: Bench, code: int | None, following: bool) -> list[str]:
    found, record = launched(place, code, following), on_record(place)
    ended = [status for run_id, status in record.items() if run_id.startswith("loop-")]
    if code == 0 and ended.count("succeeded") != 2:
        found.append(f"ended with 0, and on record are {record}")
    return found


def diverged(place: Bench) -> None:
    suggested(place)
    launching(place, SCRIPT + GOES_ON, "nan")


def going_on(place: Bench) -> None:
    """A run whose loss is no number any more, and that does not end by itself."""
    code, said = place.jpo("run", "config.ini", "--run-id", RUN, "--detach", "--", "sh", "train.sh")
    if code != 0:
        raise RuntimeError(said)
    log, until = place.folder / ".jpo" / "launches" / RUN / "runs" / f"{RUN}.csv", time.monotonic() + QUIET_SECONDS
    while not log.exists() or "nan" not in log.read_text(encoding="utf-8"):
        if time.monotonic() > until:
            raise RuntimeError("the run does not begin")
        time.sleep(0.01)


def stopped(place: Bench, code: int | None, following: bool) -> list[str]:
    """A run is stopped once, and that is on record once."""
    from jpo.history import open_store

    status = on_record(place).get(RUN)
    with open_store(place.store_url, read_only=True) as store:
        kinds = [row.kind for row in store.audit_rows() if row.kind in ("adjusted", "adjustment settled")]
    found = launched(place, code, following) if following else []
    if (code == 0 or following) and status is None:
        found.append(f"ended with {code}, and the run is not on record")
    if len(kinds) != len(set(kinds)) or (following and kinds != ["adjusted", "adjustment settled"]):
        found.append(f"ended with {code}, and on the audit log is {kinds}")
    return found


LAUNCH = ("--", "sh", "train.sh")
COMMANDS = {
    "suggest": Command(SUGGEST, undone=("config.ini",), following=SUGGEST),
    "observe": Command(("observe",), following=SUGGEST),
    "rollback": Command(("rollback",), suggested, undone=("config.ini",), following=SUGGEST),
    "state gc": Command(("state", "gc"), with_what_is_old, following=SUGGEST),
    "import": Command(
        ("import", "table.csv", "--write"), with_table, facts=lambda place: {"runs": on_record(place)}, codes=(0, 2, 4, 5, -9)
    ),
    "state import": Command(("state", "import", "backup.jsonl"), exported, facts=in_store, following_codes=(0, 5)),
    "sla suggest": Command(
        ("sla", "suggest", "config.ini", "--write"),
        suggested,
        facts=files("jpo.toml"),
        undone=("jpo.toml",),
        not_ours="/project/runs",
    ),
    "init": Command(
        ("init", "config.ini", "--ci", "gitlab", "--offline"),
        not_set_up,
        facts=files("jpo.toml", ".jpo/.gitignore", ".gitlab-ci.yml"),
        not_ours="/project/runs",
        has_store=False,
    ),
    "learn": Command(("learn", "config.ini", "--budget", "1s"), briefly),
    "comment": at_a_code_host(("comment", "--strict"), "merge request", lambda host: {"notes": host.bodies()}),
    "persist": at_a_code_host(("persist", "config.ini", "--from", "s.json", "--strict"), "default branch", proposed),
    "run": Command(
        ("run", "config.ini", "--run-id", RUN, *LAUNCH),
        launching,
        promise=one_run,
        codes=LAUNCH_CODES,
        following_codes=(0, 7),
        processes=HELD_BY_LAUNCHES,
    ),
    "optimize": Command(
        ("optimize", "config.ini", "--name", "loop", "--runs", "1", "--baseline", "1", "--no-learn", "--offline", *LAUNCH),
        launching_with_history,
        facts=lambda _: {},
        promise=two_runs,
        codes=LAUNCH_CODES,
        processes=HELD_BY_LAUNCHES,
    ),
    "watch --apply": Command(
        ("watch", RUN, "--apply"),
        diverged,
        going_on,
        promise=stopped,
        codes=LAUNCH_CODES,
        not_ours=NOT_OURS,
    ),
}
READERS = {
    name: Command(words, suggested)
    for name, words in {"history": ("history",), "explain": ("explain",), "audit verify": ("audit", "verify")}.items()
}
"""For benchmarks/freezes.py."""
