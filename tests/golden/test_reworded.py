"""Nothing that JPO shows or writes depends on how a note is worded.

Two projects are played twice, the second time with every note in other letters, of the same number, wherever it arises: read back
into ours, text, JSON, Markdown, page and comment must be the same, those from the store and from suggestion.json as well.
"""

from __future__ import annotations

import json
from pathlib import Path
from string import ascii_letters

import pytest
from golden.harness import Scenario, Step, differences, normalised, play, report
from golden.projects import quickstart, team
from golden.scenarios import MORNING, quickstart_run, team_run

from jpo.records import Note

OTHER = "".join(map(chr, range(ord("А"), ord("А") + len(ascii_letters))))
"""As many letters that no sentence of JPO has."""
REWORDED, AS_BEFORE = str.maketrans(ascii_letters, OTHER), str.maketrans(OTHER, ascii_letters)
IN_EVERY_FORM = tuple(
    step
    for command in ("suggest --dry-run --no-learn", "explain", "history", "predict", "pareto", "sla check", "prices show")
    for form in ("text", "json", "markdown")
    for step in [Step(f"{command} {form}", f"{command} -o {form}", "json" if form == "json" else "lines")]
)
FILES = ("suggestion.json", "summary.md", "page.html")
WRITTEN = f"--no-learn {' '.join(f'--output-file {name}' for name in FILES)} -o text"
SHOWN = (
    Step("comment", "comment --dry-run", "lines"),
    Step("comment_from_a_file", "comment --from suggestion.json --dry-run", "lines"),
    Step("report", "report --html report.html -o markdown", "lines", files=("report.html",)),
    Step("audit", "audit show -o json", "json lines"),
    Step("doctor", "doctor --offline -o json"),
)
SCENARIOS = (
    Scenario(
        "quickstart",
        quickstart,
        MORNING,
        (
            Step("first", f"suggest {WRITTEN}", "lines", files=FILES),
            *IN_EVERY_FORM,
            *SHOWN,
            Step("again", f"suggest {WRITTEN}", "lines", before=quickstart_run("r1", 6, 1.9, 0.08), files=FILES),
            Step("rollback", "rollback --pin 14 -o text", "lines"),
            Step("set_by_hand", "suggest --no-learn --set batch_size=32 -o text", "lines"),
            Step("explain_set_by_hand", "explain -o text", "lines"),
        ),
    ),
    Scenario(
        "team",
        team,
        MORNING,
        (
            Step("first", f"suggest --prefer time {WRITTEN}", "lines", files=FILES),
            *IN_EVERY_FORM,
            *SHOWN,
            Step(
                "undoes",
                f"suggest --prefer time {WRITTEN}",
                "lines",
                files=FILES,
                before=team_run(1, 30, 256, 0.04, 2, "failed", 900.0, 0.9, None),
            ),
            *SHOWN,
        ),
    ),
)


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_notes_in_other_words_change_nothing_else(scenario: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("as_it_is", "reworded"):
        (tmp_path / name).mkdir()
    as_it_is = play(scenario, tmp_path / "as_it_is")
    make = Note.__init__

    def reworded(note: Note, code: str, text: str, about: str = "", remedy: str = "") -> None:
        make(note, code, text.translate(REWORDED), about, remedy.translate(REWORDED))

    monkeypatch.setattr(Note, "__init__", reworded)
    found = json.dumps(play(scenario, tmp_path / "reworded"), ensure_ascii=False)
    assert any(letter in found for letter in OTHER)
    read_back = normalised(json.loads(found.translate(AS_BEFORE)), tmp_path)  # ids in sentences are only now as ids are
    if differing := list(differences(as_it_is, read_back)):
        pytest.fail(report(differing), pytrace=False)
