"""A PostgreSQL that falls silent, or is gone, at every point of every command's conversation with it: does JPO keep its promises?

At each piece of the conversation, in either direction, the server says nothing more; or closes the connection; or says nothing
more, and the user presses Ctrl-C. Each command ends in time, config.ini is the old one or the new one and the exit code says
which, `observe` says what is on record, and the audit log verifies. `--login` does the same over TLS with a password (SCRAM).

    python benchmarks/freezes.py [--every N] [--command NAME ...] [--login] [--json]

Exit code 1 if anything is not as promised. Needs PostgreSQL, and openssl for `--login`.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks"), str(ROOT / "tests")]

from apparatus.fault_bench import POSTGRESQL, Bench, bench  # noqa: E402
from apparatus.fault_commands import COMMANDS, READERS  # noqa: E402
from freezing import Direction, Route, freezing  # noqa: E402

PLAYED = {name: COMMANDS[name] for name in ("suggest", "observe", "rollback", "state gc")} | READERS
WAYS = ("silent", "closed", "interrupted")
TIMEOUT_SECONDS, ALLOWANCE_SECONDS = 0.5, 1.5
LONGEST_INTERRUPTED_SECONDS = 1.0
"""From Ctrl-C to the end, whatever `[store] timeout` is."""
INTO_A_PIECE = 3
"""Bytes of a piece that still pass."""


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--every", type=int, default=10, metavar="N", help="only each Nth point (default: 10; 1: all, half an hour)"
    )
    parser.add_argument("--command", nargs="+", default=[*PLAYED], choices=PLAYED, metavar="NAME")
    parser.add_argument("--login", action="store_true", help="over TLS, with a password")
    parser.add_argument("--json", action="store_true", help="figures as JSON instead of a table")
    options = parser.parse_args(argv)
    counts: dict[str, int] = {}
    slowest = dict.fromkeys(WAYS, 0.0)
    bad: list[str] = []
    for command in options.command:
        with bench("PostgreSQL", PLAYED[command], login=options.login) as place:
            points, wanted = conversation(place, command)
            counts[command] = len(points[:: options.every])
            for point in points[:: options.every]:
                for way in WAYS:
                    seconds, found = suffered(place, command, point, way, wanted)
                    slowest[way] = max(slowest[way], seconds)
                    bad += [f"{command}, {way} at {point}: {one}" for one in found]
                    if found:
                        print(bad[-1], file=sys.stderr, flush=True)
    print(json.dumps({"points": counts, "slowest": slowest, "bad": bad}) if options.json else table(counts, slowest, bad))
    return 1 if bad else 0


@contextmanager
def route_to(place: Bench, at: tuple[Direction, int] | None = None, *, dead: bool = False) -> Iterator[Route]:
    """JPO_STORE__URL is a path to the server that ends at a byte."""
    server: Any = place.server
    direct = os.environ["JPO_STORE__URL"]
    with freezing(server.address, "jpo_now", at, dead=dead, parameters=server.parameters) as route:
        os.environ["JPO_STORE__URL"] = route.url
        try:
            yield route
        finally:
            os.environ["JPO_STORE__URL"] = direct


def conversation(place: Bench, command: str) -> tuple[list[tuple[Direction, int]], tuple[bytes, list[str]]]:
    """Where it can stop; config.ini and the log after an undisturbed command."""
    place.renew()
    with route_to(place) as route:
        code, said = place.jpo(*PLAYED[command].words)
    if code != 0:
        raise RuntimeError(f"{command} does not work undisturbed: {said}")
    return [(direction, byte + INTO_A_PIECE) for direction, byte in route.pieces], (place.config, kinds(place))


def kinds(place: Bench) -> list[str]:
    """What is in the audit log; nothing where there is no store yet."""
    server: Any = place.server
    exists = server.sql("SELECT 1 FROM pg_namespace WHERE nspname = 'jpo'", "jpo_now")
    return str(server.sql("SELECT kind FROM jpo.audit ORDER BY number", "jpo_now")).split() if exists else []


def suffered(
    place: Bench, command: str, point: tuple[Direction, int], way: str, wanted: tuple[bytes, list[str]]
) -> tuple[float, list[str]]:
    """Seconds that a command took, from Ctrl-C on where it was pressed; and what was not as promised."""
    place.renew()
    before, log_before = place.config, kinds(place)
    os.environ["JPO_STORE__TIMEOUT"] = "10s" if way == "interrupted" else f"{TIMEOUT_SECONDS}s"
    began, ended = [time.monotonic()], threading.Event()
    with route_to(place, point, dead=way == "closed") as route:
        if way == "interrupted":
            threading.Thread(target=interrupt, args=(route.stopped, ended, began), daemon=True).start()
        try:
            code, said = place.jpo(*PLAYED[command].words)
        except KeyboardInterrupt:
            code, said = 130, "interrupted after the end"
        ended.set()
        seconds = time.monotonic() - began[-1]
    os.environ["JPO_STORE__TIMEOUT"] = "10s"
    found = [] if "internal error" not in said else [said]
    if seconds > (LONGEST_INTERRUPTED_SECONDS if way == "interrupted" else TIMEOUT_SECONDS + ALLOWANCE_SECONDS):
        found.append(f"took {seconds:.2f} s")
    if code not in ((0, 130) if way == "interrupted" else (0, 5)):
        found.append(f"ended with {code}: {said}")
    if place.config not in (before, wanted[0]) or (
        code != 130 and before != wanted[0] and (code == 0) != (place.config == wanted[0])
    ):
        found.append(f"ended with {code}, and config.ini is {'the new' if place.config == wanted[0] else 'the old'} one")
    log = kinds(place)
    recorded = (wanted[1],) if code == 0 else (log_before, wanted[1])  # it may stop at what it reads after it recorded the runs
    if command == "observe" and log not in recorded:
        found.append(f"ended with {code}, and on record is {log}: {said}")
    verified, told = place.jpo("audit", "verify") if log else (0, "")
    if verified != 0:
        found.append(f"audit verify ended with {verified}: {told}")
    return seconds, found


def interrupt(stopped: threading.Event, ended: threading.Event, began: list[float]) -> None:
    """Ctrl-C, a moment after the server fell silent."""
    stopped.wait(20)
    if not ended.wait(0.1):
        began.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)


def table(counts: dict[str, int], slowest: dict[str, float], bad: list[str]) -> str:
    lines = ["## A server that stops", "", "| command | points |", "|---|---:|"]
    lines += [f"| {command} | {points} |" for command, points in counts.items()]
    told = ", ".join(f"{way} {seconds:.2f} s" for way, seconds in slowest.items())
    return "\n".join(
        [
            *lines,
            "",
            f"Each point {len(WAYS)} times; the slowest: {told}. Not as promised: {len(bad)}.",
            *(f"- {one}" for one in bad),
        ]
    )


if __name__ == "__main__":
    if package := POSTGRESQL["missing"]():
        print(f"## A server that stops\n\nPostgreSQL is not installed: apt-get install {package}")
        sys.exit(0)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell lets what runs in the background ignore it
    sys.exit(main(sys.argv[1:]))
