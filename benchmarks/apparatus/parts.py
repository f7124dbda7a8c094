"""The parts of `make bench`: a script each, whose output is a page of docs/benchmarks, written once the script has ended.

Without a part those run whose page is of other code than this, or not measured by `make bench` yet. What was measured stays when
the rest is interrupted, and the next `make bench` continues there. Below what is measured a page keeps what was written by hand.

    python benchmarks/apparatus/parts.py [PART] [ARGUMENT ...]

Exit code 1 if a part could not be measured, or a claim does not hold.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from apparatus.stamp import commit, stamp

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs/benchmarks"
ASKED_FOR = ("ablation", "mutants", "page", "sac_adapter")
"""Scripts that `make bench` does not run by itself: two take hours, `page` draws, the last has no peer to run."""
MEASURED = re.compile(
    r"^Measured by `(?P<command>.*?)`: (?P<stamp>.*, commit (?P<commit>\S+), load \d+); exit code \d\.$", re.MULTILINE
)
BY_HAND = "## Remarks, and earlier figures"


def main(argv: list[str]) -> int:
    if argv and not (ROOT / "benchmarks" / f"{argv[0]}.py").is_file():
        raise SystemExit(f"{argv[0]!r} is no part; parts are {', '.join(names())}")
    parts = argv[:1] or [name for name in names() if measured_at(name) != commit()]
    return max([0, *(measured(name, argv[1:]) for name in parts)])


def names() -> list[str]:
    return sorted(script.stem for script in (ROOT / "benchmarks").glob("*.py") if script.stem not in ASKED_FOR)


def measured_at(name: str) -> str | None:
    """The commit of the code that a page is of; None where `make bench` did not write it."""
    found = MEASURED.search(page.read_text("utf-8")) if (page := PAGES / f"{name}.md").exists() else None
    return found and found["commit"]


def measured(name: str, arguments: Sequence[str], folder: Path = ROOT / "benchmarks", pages: Path = PAGES) -> int:
    """Run a script; its page is replaced if it ended by itself, be it with a claim that does not hold (1)."""
    command = shlex.join(["python", f"benchmarks/{name}.py", *arguments])
    at = f"{stamp()}, load {os.getloadavg()[0]:.0f}"
    print(f"\n{command}", flush=True)
    with tempfile.TemporaryFile("w+") as errors:
        with subprocess.Popen(
            [sys.executable, folder / f"{name}.py", *arguments], cwd=ROOT, stdout=subprocess.PIPE, stderr=errors, text=True
        ) as script:
            lines = [line for line in script.stdout or () if print(line, end="", flush=True) is None]
        errors.seek(0)
        said = errors.read()
    print(said, end="", file=sys.stderr)
    if script.returncode not in (0, 1) or not lines or "Traceback (most recent call last)" in said:
        print(f"not measured (exit code {script.returncode}): {command}", file=sys.stderr)
        return 1
    page = pages / f"{name}.md"
    before = page.read_text("utf-8") if page.exists() else ""
    new = page.with_suffix(".new")
    how = f"Measured by `{command}`: {at}; exit code {script.returncode}."
    new.write_text(renewed(before, name, "".join(lines), how), "utf-8")
    new.replace(page)
    return script.returncode


def renewed(before: str, name: str, output: str, how: str) -> str:
    """The page with new figures: its title, the output, how it was measured, and what was written by hand."""
    old_title, _, by_hand = before.partition("\n")
    by_hand = (by_hand[found.end() :] if (found := MEASURED.search(by_hand)) else by_hand).strip("\n")
    parts = re.split(r"(^```.*?^```)", re.sub(r" +$", "", output.strip("\n"), flags=re.MULTILINE), flags=re.MULTILINE | re.DOTALL)
    text = "".join(part if part.startswith("```") else re.sub(r"^#(#+ )", r"\1", part, flags=re.MULTILINE) for part in parts)
    if not text.startswith("# "):
        text = f"{old_title or '# ' + name.replace('_', ' ').capitalize()}\n\n{text}"
    kept = by_hand if by_hand.startswith(BY_HAND) or not by_hand else f"{BY_HAND}\n\n{by_hand}"
    return "\n\n".join(part for part in (text, how, kept) if part) + "\n"


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
