"""What a config.ini leaves open, and the lines of jpo.toml that decide it: which job it is, and which of two options counts.

Nobody is asked: the likeliest line is chosen, and the others stand next to it, to be taken instead. Of an identity, what the
training scripts report comes first, then what they import, then the repository's name.
"""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from jpo.config import PARTS, Undecided
from jpo.errors import UsageError
from jpo.files.links import project_of
from jpo.files.reading import beginning, toml
from jpo.plugins.ci.start.pipeline import said_in
from jpo.project.load import LoadedSettings, merge
from jpo.project.tables.faults import Origin
from jpo.project.workload import MODEL, read_workload
from jpo.records import Workload

IMPORTS = ("lightning", "pytorch_lightning", "transformers", "deepspeed", "keras", "tensorflow", "flax", "jax", "xgboost")
FRAMEWORKS = {name: name for name in (*IMPORTS, "lightgbm", "sklearn", "torch")}
FRAMEWORKS |= {"pytorch_lightning": "lightning", "sklearn": "scikit-learn", "torch": "pytorch"}
"""Import -> framework, the one nearest to the job first: Lightning's scripts import torch, too."""
MOST_SCRIPTS, LARGEST_SCRIPT_BYTES = 50, 1 << 20
MOST_LEFT_OPEN = 20
ADDRESS = re.compile(r"^[ \t]*url[ \t]*=[ \t]*\S+[/:]([^/:@\s]+?)(?:\.git)?/?$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Chosen:
    """A line of jpo.toml without its table, and the lines that might stand in its place."""

    table: str
    line: str
    others: tuple[str, ...] = ()


def decided(path: Path, settings: LoadedSettings, *, now: float) -> tuple[Workload, LoadedSettings, tuple[Chosen, ...]]:
    """The workload, the settings with a line for each thing that config.ini leaves open, and those lines."""
    chosen: list[Chosen] = []
    while True:
        try:
            return read_workload(path, settings, now=now), settings, tuple(chosen)
        except Undecided as found:
            if len(chosen) > MOST_LEFT_OPEN:
                raise
            lines = list(found.choices) or [f"[workload] {line}" for line in identity_lines(path, found.missing)]
            taken, others = (lines[:1], lines[1:]) if found.choices else (lines, [])
            for line in taken:
                table, _, line = line.removeprefix("[").partition("] ")
                if line.startswith(MODEL):  # only the team frees these
                    line = line.replace(" }", ", freeze = true }")
                layers = [(Origin("file", settings.place), settings.tables), (Origin("file"), toml(f"[{table}]\n{line}\n"))]
                merged = merge(layers, root=settings.root, toml=settings.toml)
                origins = {**merged.origins, **settings.origins}
                settings = replace(settings, values=merged.values, tables=merged.tables, origins=origins)
                chosen.append(Chosen(table, line, tuple(other.partition("] ")[2] for other in others)))


def identity_lines(path: Path, missing: Sequence[str]) -> list[str]:
    """The lines of [workload] that say what config.ini does not."""
    reported, framework = in_scripts(path.parent)
    if "name" in reported or (len(missing) == len(PARTS) and not reported):
        return [f'name = "{reported.get("name") or name_of(path)}"']
    proposed = {part: name_of(path) for part in PARTS} | {"framework": framework, **reported}
    return [f'{part} = "{proposed[part]}"' for part in missing]


def name_of(path: Path) -> str:
    """A name for the job: that of the repository that was cloned, else of its folder; then the folder of config.ini in it."""
    root = project_of(path)
    address = ADDRESS.search(said_in(root / ".git" / "config"))
    words = [address[1] if address else root.name]
    folder = path.parent.resolve()
    words += folder.relative_to(root).parts if folder.is_relative_to(root) else ()
    return "-".join(re.findall("[A-Za-z0-9._]+", "-".join(words)))[:100] or "training"


def in_scripts(folder: Path) -> tuple[Mapping[str, str], str]:
    """What the scripts next to config.ini tell RunLog of their job in plain words, and the framework that they import."""
    trees = [*islice(_scripts(folder), MOST_SCRIPTS)]
    calls = _log_calls(trees)
    reported: dict[str, str] = {}
    for keyword in (keyword for call in calls for keyword in call.keywords):
        value = keyword.value.value if isinstance(keyword.value, ast.Constant) else ""
        if keyword.arg in ("name", *PARTS) and re.fullmatch(r"[\w./-][\w ./-]{0,99}", str(value)):
            reported.setdefault(keyword.arg, str(value))
    imports = {name.partition(".")[0] for tree in trees for node in ast.walk(tree) for name in _imports(node)}
    return reported, next((framework for name, framework in FRAMEWORKS.items() if name in imports), "python")


def reports_itself(folder: Path) -> bool:
    """Whether a script next to config.ini reports its runs with RunLog."""
    return bool(_log_calls([*islice(_scripts(folder), MOST_SCRIPTS)]))


def _log_calls(trees: Sequence[ast.Module]) -> list[ast.Call]:
    nodes = (node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Call))
    return [node for node in nodes if "RunLog" in ast.dump(node.func)]


def _scripts(folder: Path) -> Iterator[ast.Module]:
    for path in sorted(folder.glob("*.py")):
        try:
            yield ast.parse(beginning(path, LARGEST_SCRIPT_BYTES, lambda finding: UsageError("script", finding, code="JPO-E307")))
        except (UsageError, SyntaxError, ValueError, RecursionError):  # not for this Python, or no script
            continue


def _imports(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
