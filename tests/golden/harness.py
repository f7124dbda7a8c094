"""The golden harness: plays a scenario through the command line and compares what it printed and wrote with files on record.

A scenario is a project and a series of commands on it, with a clock that does not advance within a command and is set by the
scenario between them. Every command leaves one document: exit code, codes on stderr, stdout as data, and files that it wrote.
Only `jpo.__main__.run` is called, in this process, so that whatever moves inside jpo cannot move the harness. Commands read the
clock as `time.time()`.
"""

from __future__ import annotations

import csv
import io
import json
import math
import os
import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from unittest import mock

from jpo.__main__ import run

EXPECTED = Path(__file__).parent / "expected"
KEPT_VARIABLES = ("PATH", "LD_LIBRARY_PATH", "TMPDIR")
"""Of the environment; all others could change the answer, those of a CI runner above all."""
RELATIVE, ABSOLUTE = 1e-6, 1e-12
"""By how much numbers may differ: the last bits depend on the processor and on numpy's build."""
TIMES = (1e9, 1e10)
"""Unix seconds are between these; they come from the scenario and are compared to a millisecond."""
PROSE = re.compile(r"\S\s+\S")
NUMBER = re.compile(r"-?\d+(\.\d+)?(e[+-]?\d+)?")
COLUMNS = re.compile(r"\S  +\S")
"""What a paragraph with a table has in it, and one of sentences has not."""
FOR_PEOPLE = re.compile(r"stdout\.text\[|files\.[\w-]+\.(md|html)\[")
"""Where lines for people stand in a document; the last digit of a number in them may differ."""

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]
Form = Literal["json", "json lines", "csv", "lines", "text", "tables", "none"]


@dataclass(frozen=True)
class Step:
    """One command of a scenario.

    Attributes:
        name: of its golden file.
        command: what follows `jpo`, as in a shell; several are separated by "; ".
        form: what stdout holds: data; lines; text for people, in which the last digit of a number may differ; of text the tables
            alone; "none" is not kept.
        files: what it writes, kept too: JSON and CSV as data, others line by line.
        before: what happens in the project before it: a run ends, someone edits a file.
        environment: variables that are set for it.
    """

    name: str
    command: str
    form: Form = "json"
    files: tuple[str, ...] = ()
    before: Callable[[Path], object] | None = None
    environment: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Scenario:
    """A project and what is done with it.

    Attributes:
        start: unix seconds of the first step; each next one is an hour later.
        needs: a package that is not always installed; without it the scenario cannot be played.
    """

    name: str
    project: Callable[[Path], None]
    start: float
    steps: tuple[Step, ...]
    needs: str | None = None


@dataclass(frozen=True)
class Difference:
    """Where a document is not as on record. `wording`: sentences with the same numbers in them, said otherwise."""

    where: str
    words: str
    wording: bool = False

    def __str__(self) -> str:
        return f"{self.where}{' (wording)' if self.wording else ''}: {self.words}"


def play(scenario: Scenario, folder: Path) -> dict[str, Json]:
    """Each step's document by its name; the project is made in a new folder below this one."""
    project = folder.resolve() / "project"
    scenario.project(project)
    return {step.name: played(step, project, scenario.start + 3600.0 * hour) for hour, step in enumerate(scenario.steps)}


def played(step: Step, project: Path, now: float) -> Json:
    """One step's document."""
    if step.before:
        step.before(project)
    for log in project.glob("runs/*.csv"):
        os.utime(log, (now, now))  # by the same clock: the end of a log after its last change is local time for UTC
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="") for _ in range(2))
    variables = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
    variables |= {"HOME": str(project), "OPENBLAS_NUM_THREADS": "1", "LC_ALL": "C.UTF-8", "TZ": "UTC", "COLUMNS": "80"}
    variables |= dict(step.environment)
    with ExitStack() as around:
        around.enter_context(chdir(project))
        around.enter_context(mock.patch.dict(os.environ, variables, clear=True))
        around.enter_context(mock.patch("time.time", return_value=now))
        around.enter_context(redirect_stdout(out))
        around.enter_context(redirect_stderr(err))
        exit_code = max(run(shlex.split(command)) for command in step.command.split("; "))
    document: Json = {
        "command": f"jpo {step.command}",
        "exit_code": exit_code,
        "codes": sorted(set(re.findall(r"JPO-[A-Z]\d+", text_of(err)))),
        "stdout": data(text_of(out), step.form),
        "files": {name: file_data(project / name) for name in step.files},
    }
    return normalised(document, project)


def text_of(stream: io.TextIOWrapper) -> str:
    stream.flush()
    assert isinstance(stream.buffer, io.BytesIO)
    return stream.buffer.getvalue().decode()


def data(text: str, form: Form) -> Json:
    """What a program would make of this text; an empty one is null."""
    if form == "none" or not text:
        return None
    if form == "json":
        return strict_json(text)
    if form == "json lines":
        return [strict_json(line) for line in text.splitlines()]
    if form == "csv":
        return [list(row) for row in csv.reader(io.StringIO(text, newline=""))]
    if form == "tables":
        text = "".join(part for part in re.split("(?<=\n)\n", text) if COLUMNS.search(part))
    lines: list[Json] = list(text.splitlines(keepends=form != "tables"))
    return {"text": lines} if form in ("text", "tables") else lines


def strict_json(text: str) -> Json:
    """JSON as the standard has it, without NaN and Infinity; what is printed for programs ends with its line."""

    def refuse(word: str) -> Json:
        raise ValueError(f"{word} is not JSON")

    assert text.endswith("\n") or "\n" not in text, "the last line is not ended"
    parsed: Json = json.loads(text, parse_constant=refuse)
    return parsed


def file_data(path: Path) -> Json:
    """A file that a command wrote; bytes show in the ends of lines and as escapes.

    Of JSON lines the first of each table is kept, and how many there are; of a page all but its style sheet.
    """
    text = path.read_bytes().decode("utf-8", errors="surrogateescape")
    if path.suffix == ".html":
        text = re.sub(r"(?<=<style>).*?(?=</style>)", "...", text, flags=re.DOTALL)
    forms: dict[str, Form] = {".json": "json", ".jsonl": "json lines", ".csv": "csv"}
    found = data(text, forms.get(path.suffix, "lines"))
    return first_of_each_table(found) if path.suffix == ".jsonl" else found


def first_of_each_table(rows: Json) -> Json:
    """The first row of each table, and how many there are of it."""
    assert isinstance(rows, list)
    tables: dict[str, list[Json]] = {}
    for row in rows:
        assert isinstance(row, dict)
        tables.setdefault(str(row.get("table", next(iter(row)))), []).append(row)
    return {table: {"rows": len(found), "first": found[0]} for table, found in tables.items()}


def normalised(document: Json, project: Path) -> Json:
    """The document without what depends on machine, account, folder, versions and chance.

    Replaced are: the project's folder; the random part of suggestion ids; in `by` who and where; hashes of audit records (they
    cover `by`), wherever they are named, but not the digests of config.ini; seconds that requests took; in `jpo doctor` what is
    said of the installation and the machine, and the size of the store. Numbers keep nine digits.
    """
    if isinstance(document, list):
        return [normalised(value, project) for value in document]
    if isinstance(document, dict):
        if document.get("topic") in ("Installation", "Machine"):
            document = {"topic": document["topic"], "name": document["name"], "says": "<of the machine>"}
        return {key: by_key(key, value, project) for key, value in document.items()}
    if isinstance(document, float):
        return document if TIMES[0] < document < TIMES[1] else float(f"{document:.9g}")
    if isinstance(document, str):
        return normalised_text(document, project)
    return document


def by_key(key: str, value: Json, project: Path) -> Json:
    if key == "by" and isinstance(value, dict):
        return {name: word if name == "where" else f"<{name}>" for name, word in value.items()}
    if key == "prometheus" and isinstance(value, dict) and "seconds" in value:
        return {**value, "seconds": "<seconds>"}
    if key.endswith("_digest"):
        return value
    if key == "jpo" and isinstance(value, str):
        return "<version>"
    return normalised(value, project)


def normalised_text(text: str, project: Path) -> Json:
    """Texts that hold JSON become data, so that their numbers are compared as numbers."""
    if text.startswith(("{", "[")):
        try:
            return {"JSON in a text": normalised(strict_json(text), project)}
        except ValueError:
            pass
    text = text.replace(str(project), "<project>")
    text = re.sub(r"\b(\d{8}-\d{6})-[0-9a-f]{6}\b", r"\1-xxxxxx", text)
    text = re.sub(rf"[\w.-]+@{re.escape(os.uname().nodename)}", "<user>@<host>", text)
    text = re.sub(r"\b[0-9a-f]{64}\b", "<hash>", text)
    return re.sub(r"(?<=jpo\.db, )[\d.]+ [KM]iB", "<size>", text)


def differences(expected: Json, found: Json, where: str = "") -> Iterator[Difference]:
    """All places where two documents differ: keys and their order, types, texts, numbers beyond the tolerance."""
    if isinstance(expected, dict) and isinstance(found, dict):
        yield from between_objects(expected, found, where)
    elif isinstance(expected, list) and isinstance(found, list):
        for index, (old, new) in enumerate(zip(expected, found, strict=False)):
            yield from differences(old, new, f"{where}[{index}]")
        if len(expected) != len(found):
            yield Difference(where, f"expected {len(expected)} entries, found {len(found)}: {short((expected + found)[-1])}")
    elif not same(expected, found) and not (FOR_PEOPLE.match(where) and same_line(str(expected), str(found))):
        yield Difference(where, f"expected {short(expected)}, found {short(found)}", wording(expected, found))


def between_objects(expected: dict[str, Json], found: dict[str, Json], where: str) -> Iterator[Difference]:
    if missing := [key for key in expected if key not in found]:
        yield Difference(where, f"keys missing: {', '.join(missing)}")
    if more := [key for key in found if key not in expected]:
        yield Difference(where, f"new keys: {', '.join(more)}")
    common = [key for key in expected if key in found]
    if common != [key for key in found if key in expected]:
        yield Difference(where, f"keys in another order: {', '.join(found)}; expected {', '.join(expected)}")
    for key in common:
        yield from differences(expected[key], found[key], f"{where}.{key}" if where else key)


def same(expected: Json, found: Json) -> bool:
    if isinstance(expected, str) and isinstance(found, str):
        return expected == found or same_number(expected, found)
    if type(expected) is not type(found):
        return False
    if isinstance(expected, float) and isinstance(found, float):
        return close(expected, found)
    return expected == found


def same_number(expected: str, found: str) -> bool:
    """Of CSV cells: 2.0 may differ in its last digits, 2 may not."""
    if not (NUMBER.fullmatch(expected) and NUMBER.fullmatch(found)):
        return False
    return is_float(expected) and is_float(found) and close(float(expected), float(found))


def is_float(text: str) -> bool:
    return "." in text or "e" in text


def same_line(expected: str, found: str) -> bool:
    """Of text for people: a fraction may differ by one in its last place, where it was rounded the other way."""
    words, others = NUMBER.split(expected), NUMBER.split(found)
    numbers = zip(NUMBER.finditer(expected), NUMBER.finditer(found), strict=False)
    return words[:: 1 + NUMBER.groups] == others[:: 1 + NUMBER.groups] and all(one_apart(old[0], new[0]) for old, new in numbers)


def one_apart(expected: str, found: str) -> bool:
    if expected == found:
        return True
    places = len(expected.partition(".")[2])
    if "e" in expected + found or not places or places != len(found.partition(".")[2]):
        return False
    return abs(int(expected.replace(".", "")) - int(found.replace(".", ""))) == 1


def close(expected: float, found: float) -> bool:
    if TIMES[0] < expected < TIMES[1]:
        return abs(expected - found) <= 1e-3
    return math.isclose(expected, found, rel_tol=RELATIVE, abs_tol=ABSOLUTE)


def wording(expected: Json, found: Json) -> bool:
    """Whether both are sentences that name the same numbers."""
    if not (isinstance(expected, str) and isinstance(found, str) and PROSE.search(expected) and PROSE.search(found)):
        return False
    return [match[0] for match in NUMBER.finditer(expected)] == [match[0] for match in NUMBER.finditer(found)]


def short(value: Json) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 400 else f"{text[:400]} ..."


def golden(scenario: str, step: str) -> Path:
    return EXPECTED / scenario / f"{step}.json"


def on_record(scenario: str, step: str) -> Json:
    """The golden document; null when there is none yet."""
    path = golden(scenario, step)
    document: Json = json.loads(path.read_text(encoding="utf-8")) if path.exists() else None
    return document


def report(found: Sequence[Difference], most: int = 40) -> str:
    """The differences, one per line."""
    more = f"\n... and {len(found) - most} more" if len(found) > most else ""
    return "\n".join(map(str, found[:most])) + more
