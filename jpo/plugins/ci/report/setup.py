"""What `jpo init` found in config.ini and on Prometheus, and which files it made."""

import re
import shlex
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from jpo.records import Identity, Parameter
from jpo.report.check import recognised
from jpo.report.doctor import COLUMNS, Line, published, rows
from jpo.report.document import Block, Column, Document, Items, Section, Span, Table, Verbatim
from jpo.wording.numbers import counted

MOST_LISTED = 20
"""Numbers of the file that JPO does not know; of most files it is all of them."""
NUMBER = re.compile(r"[-+]?[.0-9].*")


@dataclass(frozen=True, slots=True)
class SetUpFile:
    """A file of the beginning.

    `text`: all of it where it would be made; what is to be added by hand where another one is there already.
    """

    path: Path
    became: Literal["made", "would be made", "there already", "as it would be"]
    text: str


@dataclass(frozen=True, slots=True)
class SetUp:
    """What was found and made.

    Attributes:
        others: key, line and text of each option in which JPO sees no parameter.
        findings: about Prometheus; empty where none was asked.
        unreported: what the training script lacks, where no server, no log and no RunLog in a script shows how runs go.
        hosts: whose pipeline's files there are.
    """

    path: Path
    identity: Identity
    parameters: tuple[Parameter, ...]
    others: tuple[tuple[str, int, str], ...]
    findings: tuple[Line, ...]
    files: tuple[SetUpFile, ...]
    hosts: Sequence[str]
    unreported: str = ""

    @property
    def unknown(self) -> tuple[tuple[str, int, str], ...]:
        """The numbers among the options that JPO does not know."""
        return tuple(other for other in self.others if NUMBER.fullmatch(other[2]))


def document(found: SetUp) -> Document:
    """What was recognised and what was not, what Prometheus has, and the files."""
    numbers = tuple(f"{key} = {text} (line {line})" for key, line, text in found.unknown[:MOST_LISTED])
    more = len(found.unknown[MOST_LISTED:])
    others = (*numbers, f"and {more} more") if more else numbers
    asked = Table(COLUMNS, tuple(row for line in found.findings for row in rows(line)))
    blocks: tuple[Block, ...] = (
        Section("Recognised", (recognised(found.parameters),)),
        Section("Not recognised: left as it is, unless [parameters] of jpo.toml names it by its key", (Items(others),)),
        Section("Prometheus", (asked if found.findings else "not asked: --prometheus-url or PROMETHEUS_URL names it",)),
        Section("Files", (Table((Column("", "key"), Column("")), tuple((str(f.path), f.became) for f in found.files)),)),
        *(Section(str(file.path), _to_be_read(file)) for file in found.files),
        Section("Next", (Items(tuple(next_steps(found))),)),
    )
    return Document((f"{found.path}: workload ", Span(str(found.identity))), blocks, verdict(found))


def _to_be_read(file: SetUpFile) -> tuple[Block, ...]:
    """The text of a file that would be made or is to be added to one."""
    says = "is there already; to be added by hand, where it is not in it yet:" if file.became == "there already" else ""
    return (says, Verbatim(file.text, "yaml" if file.path.suffix == ".yml" else "toml")) if file.text else ()


PLACEHOLDERS = {
    "gitlab": "the pipeline's file: your component in place of platform/jpo, your images, their digests in place of the zeros "
    "(docs/plugins/ci.md: once for all repositories)",
    "github": "the workflow: your-organisation, and the commit of your JPO in place of the zeros "
    "(docs/plugins/ci.md: once for all repositories)",
}
"""What the pipeline's file of a host has that nobody but its team knows."""


def next_steps(found: SetUp) -> list[str]:
    """What people do then."""
    config = shlex.quote(str(found.path))
    steps = [f"in the training script, so that its runs are known: {found.unreported}"] if found.unreported else []
    steps += [f"jpo check {config}", f"jpo suggest {config} --dry-run", f"jpo doctor {config}"]
    if not found.hosts:
        return [*steps, "no GitLab or GitHub was found here: --ci gitlab or --ci github makes the pipeline's file"]
    return [*steps, *(f"in {PLACEHOLDERS[host]}" for host in found.hosts)]


def verdict(found: SetUp) -> str:
    """How many files were made."""
    became = Counter(file.became for file in found.files)
    planned, left = became["would be made"], became["there already"] + became["as it would be"]
    done = f"{counted(planned, 'file')} would be made" if planned else f"{counted(became['made'], 'file')} made"
    return f"{done}, {left} left as {'it is' if left == 1 else 'they are'}" if left else done


def as_json(found: SetUp) -> dict[str, object]:
    """`{"schema_version", "config", "workload", "recognised", "not_recognised", "prometheus", "files"}`, lists of objects."""
    return {
        "schema_version": 1,
        "config": str(found.path),
        "workload": found.identity.labels,
        "recognised": [
            {"parameter": p.name, "key": p.key, "line": p.line, "text": p.text, "held": p.held and p.held.text}
            for p in found.parameters
        ],
        "not_recognised": [{"key": key, "line": line, "text": text} for key, line, text in found.unknown],
        "prometheus": published(found.findings, "name", "status", "finding", "next_step", "code"),
        "files": [{"path": str(file.path), "became": file.became, "text": file.text or None} for file in found.files],
    }
