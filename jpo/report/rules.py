"""The rules of a suggestion: what each took away of the candidates, in order, and which one chose.

The record has names, codes and numbers; conditions are those of the tables in the code, and of HOLDS, where the code has none.
"""

from collections.abc import Iterator
from dataclasses import asdict, astuple, dataclass, replace
from itertools import groupby

from jpo.agent.safety.exploration import ASKED_FOR, MEASURED, RULES, WITHIN_BUDGET
from jpo.records import Suggestion
from jpo.report import headline
from jpo.report.document import Block, Column, Document, Row, Table

LIMITS = "limits and SLA"
BROKEN = "breaks a limit of `[parameters]` or `[quota]`"
HOLDS = {
    LIMITS: ("JPO-I670", f"{BROKEN}, or is expected to miss a target of `[sla]`"),
    "JPO-I620": ("what failed", "asks for at least as much as what ran out of memory or diverged"),
    "JPO-I621": ("memory needed", "asks for less memory than runs need, or than today where none has measured it"),
    "JPO-I637": ("CPUs needed", "asks for fewer CPUs than runs keep busy"),
    "JPO-I622": (
        "resources unnamed",
        "asks for more of a resource than any run had, where `[parameters]` does not name its most",
    ),
    "JPO-I648": ("host memory", "is forecast to need more host memory than there is, likelier than not"),
    "JPO-W649": ("frequent failure", "fails more often than by chance, or asks for at least as much as what does"),
    "JPO-I870": ("phases", "asks for less than the phases of the last runs need"),
    "JPO-I623": ("quality", "is too likely to end below the quality floor (`quality_floor`, `quality_risk`)"),
    "JPO-I660": ("quality unknown", "trains another model, where runs do not report how good it is"),
    "JPO-I653": ("near a miss", "is, of trials that were asked for, within a factor of 2 of values that never ended well"),
    "JPO-I654": ("no way back", "is, of trials that were asked for, more than one step away from the best that was measured"),
    "JPO-I647": ("engine's most", "asks for more than the engine of `[launch]` gives to a run"),
    "JPO-I646": ("deadline", "would be done after `--deadline`"),
    "JPO-I641": ("trade", "trades time against money at a price that `usd_per_saved_hour` makes not acceptable"),
}
"""What must not run, by the name that the record has: its code, or its name where that is the key; and its condition."""
CONDITIONS = {rule.name: rule.condition for rule in (*RULES, ASKED_FOR, MEASURED, WITHIN_BUDGET)}
NOTHING_WEIGHED = "No rules are on record: nothing was weighed for this answer, or an earlier version of JPO made it."


@dataclass(frozen=True, slots=True)
class RuleInWords:
    """Rule as people read it, with what it did."""

    name: str
    code: str
    condition: str
    removed: int
    left: int


def document(suggestion: Suggestion) -> Document:
    bare = () if suggestion.prospects.sla else (LIMITS,)
    told = [replace(one, name="limits", condition=BROKEN) if one.name in bare else one for one in in_words(suggestion)]
    rows: tuple[Row, ...] = tuple(map(astuple, told))
    columns = (
        *(Column("rule", "prose"), Column("code"), Column("takes away what", "prose")),
        *(Column("removed", "figure"), Column("left", "figure")),
    )
    blocks: tuple[Block, ...] = (Table(columns, rows, "rules"), chosen(suggestion))
    return Document(headline.headline(suggestion), blocks, f"Suggestion {suggestion.suggestion_id}: see docs/decision.md")


def in_words(suggestion: Suggestion) -> Iterator[RuleInWords]:
    """Its rules but the one that chose; of several with one name, such as holds of several resources, all together."""
    for name, same in groupby(suggestion.decision.rules[:-1], key=lambda rule: rule.name):
        applied = tuple(same)
        last, removed = applied[-1], sum(rule.removed for rule in applied)
        known, condition = HOLDS.get(name, ("", CONDITIONS.get(name, "")))  # this version may not know it
        yield RuleInWords(known if name.startswith("JPO-") and known else name, last.code, condition, removed, last.left)


def chosen(suggestion: Suggestion) -> str:
    rules = suggestion.decision.rules
    return f"Chosen of what is left by “{rules[-1].name}”." if rules else NOTHING_WEIGHED


def as_json(suggestion: Suggestion) -> dict[str, object]:
    """`{"schema_version", "suggestion_id", "kind", "rules": [...], "chosen_by"}`; null without rules."""
    rules = suggestion.decision.rules
    return {
        "schema_version": 1,
        "suggestion_id": suggestion.suggestion_id,
        "kind": suggestion.decision.kind,
        "rules": [asdict(rule) for rule in in_words(suggestion)],
        "chosen_by": rules[-1].name if rules else None,
    }
