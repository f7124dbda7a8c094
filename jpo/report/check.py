"""A config.ini as JPO understands it: its workload, its parameters, and remarks on how they go together."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from jpo.records import Identity, Note, Parameter
from jpo.report.document import Column, Document, Items, Span, Table
from jpo.wording.numbers import plain


@dataclass(frozen=True, slots=True)
class CheckedConfig:
    """A valid config.ini: of how many `rules` of the guard its values keep how many.

    `remarks`: values that are allowed but may not be meant; with a stable reason code where one is to act.
    """

    path: Path
    identity: Identity
    parameters: tuple[Parameter, ...]
    remarks: tuple[Note, ...]
    kept: int
    rules: int


def document(checked: CheckedConfig) -> Document:
    title = (f"{checked.path}: workload ", Span(str(checked.identity)))
    remarks = Items(tuple(remark.cited for remark in checked.remarks))
    kept = str(checked.kept) if checked.kept == checked.rules else f"{checked.kept} of {checked.rules}"
    return Document(title, (recognised(checked.parameters), remarks), f"valid; {kept} rules kept")


def recognised(parameters: Sequence[Parameter]) -> Table:
    """Where config.ini says which parameter."""
    columns = (Column("line", "figure"), Column("key", "key"), Column("value"), Column("parameter"))
    return Table(columns, tuple((p.line, p.key, p.text, meaning(p)) for p in parameters), "parameters")


def meaning(parameter: Parameter) -> str:
    """A parameter by the name that JPO has for it, and why it is held, where it is."""
    said = f"{parameter.counted[0]} {plain(parameter.counted[1])}: " if parameter.counted else ""
    return f"{said}{parameter.name} {plain(parameter.value)}" + (f", {parameter.held.text}" if parameter.held else "")


def as_json(checked: CheckedConfig) -> dict[str, object]:
    return {
        "schema_version": 1,
        "config": str(checked.path),
        "workload": checked.identity.labels,
        "parameters": [
            {"parameter": p.name, "key": p.key, "line": p.line, "text": p.text, "value": p.value, "held": p.held and p.held.text}
            for p in checked.parameters
        ],
        "remarks": [{"text": remark.text, "code": remark.code or None} for remark in checked.remarks],
        "rules_kept": checked.kept,
    }
