"""The lists of docs/decision.md, made from the tables of the code: `python tests/decision_page.py` renews the page."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable
from pathlib import Path

from jpo.agent.safety.exploration import ASKED_FOR, MEASURED, RULES, WITHIN_BUDGET
from jpo.optimizer.advise import CHOICES
from jpo.report.rules import HOLDS, LIMITS

PAGE = Path(__file__).parents[1] / "docs/decision.md"
WIDTH = 120


def items(lines: Iterable[str]) -> str:
    """A numbered list within the width of the documentation."""
    wrapped = (textwrap.fill(f"{n}. {line}", WIDTH, subsequent_indent="   ") for n, line in enumerate(lines, 1))
    return "\n".join(wrapped)


def lists() -> dict[str, str]:
    """Each list of the page, by the name in its mark."""
    held = [(name, *HOLDS[name]) if name == LIMITS else (HOLDS[name][0], name, HOLDS[name][1]) for name in HOLDS]
    others = (ASKED_FOR, MEASURED, WITHIN_BUDGET)
    return {
        "must not run": items(f"**{name}** ({code}): what {condition}." for name, code, condition in held),
        "may be tried": items(f"**{rule.name}** ({rule.code}): what {rule.condition}." for rule in RULES),
        "other rules": items(f"**{rule.name}** ({rule.code}): what {rule.condition}." for rule in others),
        "who answers": items(f"**{choice.name}** ({choice.codes}): {choice.condition}." for choice in CHOICES),
    }


def renewed(page: str) -> str:
    """The page with each list as the code has it now."""
    for name, made in lists().items():
        marks = re.compile(rf"(<!-- made: {name} -->\n).*?(\n<!-- end -->)", re.DOTALL)
        page, found = marks.subn(lambda marked, made=made: f"{marked[1]}{made}{marked[2]}", page)  # type: ignore[misc]
        assert found == 1, f"docs/decision.md has no place for the list {name!r}"
    return page


if __name__ == "__main__":
    PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
