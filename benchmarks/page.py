"""docs/benchmarks.md: eight figures that a stranger can check, each read from the tables of docs/benchmarks and drawn.

docs/benchmarks/NAME.json says what a figure is, and in which cells of which tables its numbers stand. Without an option those
numbers are read again, the pictures drawn, and their part of the page is written. What `make bench` measured is preferred to what
was written by hand below it, if it has all numbers of the figure.

    python benchmarks/page.py [--check]

--check writes nothing. Exit code 1 if something is not as the tables have it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import wrap
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from apparatus.forest import picture, shown
from apparatus.parts import MEASURED

ROOT = Path(__file__).parents[1]
PAGE, FOLDER = ROOT / "docs/benchmarks.md", ROOT / "docs/benchmarks"
FIGURES = ("recurring", "search", "nights", "phases", "cluster", "startup", "telemetry", "reliability")

Figure = Mapping[str, Any]


def main(argv: list[str]) -> int:
    if argv not in ([], ["--check"]):
        raise SystemExit(__doc__)
    old = {path: text for path, text in files().items() if not path.exists() or path.read_text("utf-8") != text}
    for path, text in old.items():
        print(f"{'not as the tables have it' if argv else 'written'}: {path.relative_to(ROOT)}")
        if not argv:
            path.write_text(text, "utf-8")
    return 1 if argv and old else 0


def files() -> dict[Path, str]:
    """All that is made, as it has to be."""
    figures = {name: measured(json.loads((FOLDER / f"{name}.json").read_text("utf-8"))) for name in FIGURES}
    made = {}
    for name, figure in figures.items():
        made[FOLDER / f"{name}.json"] = json.dumps(figure, indent=1, ensure_ascii=False) + "\n"
        made[FOLDER / f"{name}.svg"] = picture(
            figure["rows"], figure["axis"], figure.get("level"), figure.get("logarithmic", False)
        )
    made[PAGE] = page(PAGE.read_text("utf-8"), figures)
    return made


def measured(figure: Figure) -> Figure:
    """The figure with the numbers of its tables; measured by `make bench`, with the command and stamp that stand there."""
    source = (ROOT / "docs" / figure["tables"]).read_text("utf-8")
    stamp = MEASURED.search(source)
    rows, missing = read(figure["rows"], source[: stamp.start()] if stamp else source)
    if missing and stamp:
        rows, missing, stamp = *read(figure["rows"], source[stamp.end() :]), None
    if missing:
        raise SystemExit(
            f"docs/{figure['tables']} has no row or column for {missing}: change docs/benchmarks/*.json or the table"
        )
    return {**figure, **({"command": stamp["command"], "measured": stamp["stamp"]} if stamp else {}), "rows": rows}


def read(rows: Sequence[Mapping[str, Any]], tables: str) -> tuple[list[Mapping[str, Any]], list[str]]:
    """Rows with what is said in their cells; and the names of those whose cells are not in these tables."""
    found, missing = list[Mapping[str, Any]](), list[str]()
    for row in rows:
        if "group" in row:
            found.append(row)
            continue
        text = tables.partition(row["below"])[2] if "below" in row else tables
        line = next((line for line in text.splitlines() if line.startswith(row["row"])), "")
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if row["column"] < len(cells) and cells[row["column"]]:
            found.append({**row, "said": cells[row["column"]]})
        else:
            missing.append(row["name"])
    return found, missing


def page(text: str, figures: Mapping[str, Figure]) -> str:
    """The page, with its figures and the list of all tables as they are."""
    parts = {"figures": "".join(section(name, figure) for name, figure in figures.items()), "tables": tables()}
    for name, made in parts.items():
        head, begin, rest = text.partition(f"<!-- made: {name} -->\n")
        text = f"{head}{begin}{made}<!-- end -->{rest.partition('<!-- end -->')[2]}"
    return text


def section(name: str, figure: Figure) -> str:
    """One figure: what it shows, the picture, and what it takes to check it."""
    alt = "; ".join(f"{row['name']}: {shown(row['said'])}" if "said" in row else row["group"].upper() for row in figure["rows"])
    facts = [
        f"**Command:** `{figure['command']}`",
        f"**Measured:** {figure['measured']}",
        f"**Interval:** {figure['interval']}",
        *([f"**Data:** {figure['data']}"] if "data" in figure else []),
        f"**Check it:** [all of its tables]({figure['tables']}), [the numbers of the picture](benchmarks/{name}.json)",
    ]
    said = [f"## {figure['title']}", "", *lines(figure["shows"]), "", *lines(f"![{alt}](benchmarks/{name}.svg)"), ""]
    return "\n".join([*said, *(line for one in facts for line in lines(f"- {one}")), "", ""])


def lines(text: str) -> list[str]:
    return wrap(
        text, 120, break_long_words=False, break_on_hyphens=False, subsequent_indent="  " if text.startswith("- ") else ""
    )


def tables() -> str:
    """A link for each page of tables, by title."""
    titles = {path.read_text("utf-8").partition("\n")[0].removeprefix("# "): path.name for path in FOLDER.glob("*.md")}
    return "".join(f"- [{title}](benchmarks/{name})\n" for title, name in sorted(titles.items()))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
