"""Mutated real files for every reader of JPO: 10,000 each, and of every fiftieth the whole command that reads such a file.

hypothesis draws the mutations (apparatus/mutations.py): flipped bits, lost ends, doubled and moved parts, strange tokens, numbers
that no file should hold. Values of options are whole commands, and get a tenth. A reader may read a file or
refuse it in one line with a reason code; an internal error, another exception, or a case of more than 5 seconds is a bug.

    python benchmarks/fuzz.py [--cases 10000] [--seed 1] [--json] [READER ...]

Exit code 1 if there is a bug.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

from apparatus.mutations import mutated  # noqa: E402
from apparatus.readers import Reader, project, readers  # noqa: E402
from apparatus.stamp import stamp  # noqa: E402
from hypothesis import HealthCheck, Phase, given, settings  # noqa: E402
from hypothesis import seed as seeded  # noqa: E402

MOST_SECONDS = 5.0
"""For one case; some of them are megabytes, and commands import numpy."""
COMMANDS_OF = 50
"""Of so many cases one is played through the whole command."""


WHOLE_COMMANDS, WHOLE_COMMANDS_OF = ("values of options",), 10
"""Readers of which each case is a whole command, and by which share they get fewer of them."""
HEAD = """\
## Readers under mutated files

| reader | files | read | refused | commands | slowest case | bugs |
|---|---:|---:|---:|---:|---:|---|
"""


@dataclass
class Played:
    """What became of the cases of one reader; `bugs` holds the place of each with the first message."""

    cases: int = 0
    accepted: int = 0
    commands: int = 0
    slowest_seconds: float = 0.0
    bugs: dict[str, str] = field(default_factory=dict)


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Mutated real files for every reader of JPO.")
    parser.add_argument("--cases", type=int, default=10_000, help="for each reader (default: 10000)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true", help="figures as JSON instead of a table")
    parser.add_argument("only", nargs="*", metavar="READER")
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as scratch:
        folder = project(Path(scratch) / "project")
        chosen = {name: reader for name, reader in readers(folder).items() if not options.only or name in options.only}
        results = {}
        print("" if options.json else HEAD, end="")
        for name, reader in chosen.items():
            cases = options.cases // WHOLE_COMMANDS_OF if name in WHOLE_COMMANDS else options.cases
            results[name] = played(reader, folder, cases, options.seed)
            print("" if options.json else row(name, results[name]), end="", flush=True)  # a run that is stopped shows what it did
    print(json.dumps({name: asdict(result) for name, result in results.items()}) if options.json else summary(results))
    return int(any(result.bugs for result in results.values()))


def played(reader: Reader, folder: Path, cases: int, seed: int) -> Played:
    """All cases of one reader; the project is as before afterwards."""
    result, path = Played(), folder / reader.file
    before = path.read_bytes() if path.exists() else None

    @seeded(seed)
    @settings(max_examples=cases, database=None, deadline=None, suppress_health_check=list(HealthCheck), phases=[Phase.generate])
    @given(mutated(reader.seeds))
    def play(data: bytes) -> None:
        result.cases += 1
        result.accepted += int(timed(result, lambda: reader.play(folder, data)) or 0)
        if result.cases % COMMANDS_OF == 0:
            for command in reader.commands:
                result.commands += 1
                timed(result, lambda command=command: reader.command(folder, data, command))  # type: ignore[misc]

    play()
    path.write_bytes(before) if before is not None else path.unlink(missing_ok=True)
    return result


def timed(result: Played, case: Callable[[], int]) -> int | None:
    """What a case returns; None where it is a bug, which is noted."""
    started = time.perf_counter()
    try:
        value = case()
    except Exception as error:  # noqa: BLE001 - any is a bug, and the other cases go on
        place = traceback.extract_tb(error.__traceback__)[-1]
        result.bugs.setdefault(f"{type(error).__name__} at {Path(place.filename).name}:{place.lineno}", str(error)[:200])
        return None
    seconds = time.perf_counter() - started
    result.slowest_seconds = max(result.slowest_seconds, seconds)
    if seconds > MOST_SECONDS:
        result.bugs.setdefault(f"slower than {MOST_SECONDS:g} s", f"{seconds:.1f} s")
    return value


def row(name: str, result: Played) -> str:
    """The figures of a reader as a row of Markdown."""
    counts = f"{result.cases:,} | {result.accepted:,} | {result.cases - result.accepted:,} | {result.commands:,}"
    found = "; ".join(f"{place}: {words}" for place, words in result.bugs.items()) or "0"
    return f"| {name} | {counts} | {1000 * result.slowest_seconds:.0f} ms | {found} |\n"


def summary(results: dict[str, Played]) -> str:
    """What all readers make together."""
    cases, commands = (sum(getattr(result, name) for result in results.values()) for name in ("cases", "commands"))
    bugs = sum(len(result.bugs) for result in results.values())
    return f"\n{stamp()}. {len(results)} readers, {cases:,} files and {commands:,} commands: {bugs} bugs."


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
