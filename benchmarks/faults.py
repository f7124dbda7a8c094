"""Every system call by which a command that writes touches its files, its store or a server fails once: are the promises kept?

For each command of apparatus/fault_commands.py, on SQLite and on PostgreSQL: each call ends with an I/O error, a full disk, an
interruption, or the death of the process. Afterwards each file is the old one or the new one, the exit code says which, the audit
log verifies, nothing was started twice or is left running, and the next command works. Needs strace; PostgreSQL is left out where
it is not installed.

    python benchmarks/faults.py [--every N] [--first M] [--about REGEX] [--command NAME ...] [--store NAME] [--count] [--json]

Exit code 1 if anything is not as promised.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

from apparatus.fault_bench import STORES, Bench, Command, bench, stores  # noqa: E402
from apparatus.fault_commands import COMMANDS  # noqa: E402
from apparatus.faults import KILL, Ended, Fault, faults, missing, suffered  # noqa: E402

Facts = Mapping[str, object]


def possible(place: Bench, command: Command) -> tuple[list[Fault], Facts]:
    """All faults that can befall the command, and what it changes without one."""
    found: list[Fault] = []
    for process in command.processes:
        place.renew()
        alone = len(command.processes) == 1
        found += faults(command.words, place.folder, process=process, alone=alone, not_ours=command.not_ours)
        if bad := command.promise(place, 0, False):
            raise RuntimeError(f"{' '.join(command.words)} does not work undisturbed: {bad}")
    return found, command.facts(place)


def befall(place: Bench, command: Command, fault: Fault, wanted: Facts) -> list[str]:
    """Let it happen; what was not as promised."""
    place.renew()
    before = command.facts(place)
    ended = suffered(command.words, place.folder, fault, alone=len(command.processes) == 1)
    found = [*wrong(command, ended, before, wanted, now := command.facts(place)), *command.promise(place, ended.code, False)]
    held = wanted != before and now == wanted
    code, said = place.jpo(*(command.following or command.words))
    if code not in command.following_codes:
        found.append(f"the next command ended with {code}: {said}")
    if not command.following and (last := command.facts(place)) != wanted:
        found.append(f"after the next command: {briefly(last)}, not {briefly(wanted)}: {said}")
    found += [f"after the next command: {one}; {said}" for one in command.promise(place, code, True)]
    code, said = place.jpo("audit", "verify") if command.has_store else (0, "")
    if code != 0 or (held and "not on record" in said):
        found.append(f"audit verify ended with {code}: {said}")
    found += [f"left behind: {file}" for file in left_behind(place, fault)]
    return [f"{fault.process}: {fault.about} {fault.error}: {one}; {ended.code} {ended.err.strip()}" for one in found]


def wrong(command: Command, ended: Ended, before: Facts, wanted: Facts, now: Facts) -> list[str]:
    """What is not as promised: all is old or new, and the exit code says which.

    Args:
        before, wanted, now: what the command changes, before it, after it without a fault, and as it is.
    """
    found = []
    if ended.code not in command.codes:
        found.append(f"ended with {ended.code}")
    for name, fact in now.items():
        if fact not in (before[name], wanted[name]):
            found.append(f"{name} is neither the old nor the new one: {briefly(fact)}")
        elif ended.code == 0 and fact != wanted[name]:
            found.append(f"ended with 0, and {name} is the old one")
        elif ended.code not in (0, -9) and name in command.undone and fact != before[name]:
            found.append(f"ended with {ended.code}, and {name} is the new one")
    return found


def left_behind(place: Bench, fault: Fault) -> list[Path]:
    """Files that were to become new ones; a process that was killed, and a file that could not be removed, leave one."""
    return [] if fault.error == KILL or fault.call == "unlink" else [*place.folder.rglob(".jpo-new-*")]


def briefly(fact: object) -> str:
    return f"{fact!r:.300}"


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only each Nth fault (default: 1, all)")
    parser.add_argument("--first", type=int, default=0, metavar="M", help="begin with the one after this many (default: 0)")
    parser.add_argument("--about", default="", metavar="REGEX", help="only calls in which strace shows this, e.g. launches")
    parser.add_argument("--command", nargs="+", default=[*COMMANDS], choices=COMMANDS, metavar="NAME")
    parser.add_argument("--store", nargs="+", default=[*stores()], choices=STORES, metavar="NAME")
    parser.add_argument("--count", action="store_true", help="only count what can fail")
    parser.add_argument("--json", action="store_true", help="figures as JSON instead of a table")
    options = parser.parse_args(argv)
    if package := missing():
        sys.exit(f"faults.py: strace not found: apt-get install {package}")
    counts: dict[str, dict[str, int]] = {}
    bad: list[str] = []
    for name in options.command:
        counts[name] = {}
        for store in options.store:
            with bench(store, COMMANDS[name]) as place:
                all_faults, wanted = possible(place, COMMANDS[name])
                chosen = [fault for fault in all_faults if re.search(options.about, fault.about)][options.first :: options.every]
                counts[name][store] = len(chosen)
                for fault in () if options.count else chosen:
                    for one in befall(place, COMMANDS[name], fault, wanted):
                        bad.append(f"{store} {name} {one}")
                        print(bad[-1], file=sys.stderr, flush=True)
    print(json.dumps({"faults": counts, "bad": bad}) if options.json else table(counts, options.store, bad))
    return 1 if bad else 0


def table(counts: Mapping[str, Mapping[str, int]], columns: list[str], bad: list[str]) -> str:
    lines = ["## Faults of the operating system", "", f"| command | {' | '.join(columns)} |", "|---|" + "---|" * len(columns)]
    lines += [f"| {name} | {' | '.join(str(by[store]) for store in columns)} |" for name, by in counts.items()]
    return "\n".join([*lines, "", f"Ended otherwise than promised: {len(bad)}.", *(f"- {one}" for one in bad)])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
