"""Nothing that JPO shows or writes depends on how a sentence is worded.

Three projects are played twice, the second time with every note, error and reason in other letters, of the same number, wherever
it arises: read back into ours, text, JSON, Markdown, page and comment must be the same, those from the store and from
suggestion.json as well.
"""

from __future__ import annotations

import json
from pathlib import Path
from string import ascii_letters

import pytest
from golden.harness import Scenario, Step, differences, normalised, play, report
from golden.projects import quickstart, team
from golden.projects import write_log as write_log_of_a_loss
from golden.scenarios import MORNING, quickstart_run, team_run

from jpo.errors import JpoError
from jpo.project.tables.faults import Origin
from jpo.records import Note, Skipped
from jpo.report import front

OTHER = "".join(map(chr, range(ord("А"), ord("А") + len(ascii_letters))))
"""As many letters that no sentence of JPO has."""
REWORDED, AS_BEFORE = str.maketrans(ascii_letters, OTHER), str.maketrans(OTHER, ascii_letters)
IN_EVERY_FORM = tuple(
    step
    for command in ("suggest --dry-run --no-learn", "explain", "history", "predict", "pareto", "sla check", "prices show")
    for form in ("text", "json", "markdown")
    for step in [Step(f"{command} {form}", f"{command} -o {form}", "json" if form == "json" else "lines")]
)
ACCURACIES = {16: (0.93, 0.932, 0.931), 64: (0.929, 0.93, 0.931), 256: (0.89, 0.885, 0.887)}
SECONDS = {16: 100.0, 64: 40.0, 256: 30.0}
PROMISED = """\
[csv]
logs = ["runs/*.csv"]
[parameters]
learning_rate = { freeze = true }
[sla]
accuracy_min = 0.92
"""


def promised(folder: Path) -> None:
    """A job whose accuracy is promised and not reached: a value that cannot be, one that no run has, and logs of no use."""
    (folder / "runs").mkdir(parents=True)
    (folder / "jpo.toml").write_text(PROMISED)
    job = "[job]\ndataset = digits\nmodel = resnet18\nframework = pytorch\n"
    (folder / "config.ini").write_text(f"{job}[training]\nbatch_size = 256\nlearning_rate = 0.01\nepochs = 20\n")
    for number in range(9):
        batch_size = (16, 64, 256)[number // 3]
        start, seconds = MORNING - 86400 + 3600 * number, SECONDS[batch_size] * (1 + 0.01 * (number % 3))
        values = (batch_size, 0.01, 1, "succeeded", seconds * (1000 if number == 1 else 1), 0.1, None)
        write_log_of_a_loss(folder, f"run-{number}", "digits", start, *values)
        log = folder / "runs" / f"run-{number}.csv"
        *head, _ = log.read_text().partition("time,epoch")
        accuracy, end = ACCURACIES[batch_size][number % 3], start + values[4]
        rows = f"time,epoch,samples,val_accuracy\n{end},20,60000,{accuracy}\n# end={end}\n# status=succeeded\n"
        log.write_text(head[0] + rows)
    good = (folder / "runs" / "run-0.csv").read_text()
    for name, old, new in (
        ("a", "batch_size=16", "batch_size=1_6"),
        ("b", "batch_size=16", "batch_size=x"),
        ("c", "# end=", "# end=9"),
    ):
        (folder / "runs" / f"odd-{name}.csv").write_text(good.replace("run-0", f"odd-{name}").replace(old, new))


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
            *[
                Step(f"{command} pinned", command, "lines", environment=(("COLUMNS", "400"),))  # paths differ in length
                for command in ("check", "predict -o text", "doctor --offline -o text")
            ],
            Step("settings", "config show", "lines", environment=(("JPO_AGENT__EXPLORE", "off"),)),
            Step("init", "init --dry-run", "lines"),
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
    Scenario(
        "promised",
        promised,
        MORNING,
        (Step("first", f"suggest --offline {WRITTEN}", "lines", files=FILES), *IN_EVERY_FORM, *SHOWN),
    ),
)


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_notes_in_other_words_change_nothing_else(scenario: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("as_it_is", "reworded"):
        (tmp_path / name).mkdir()
    as_it_is = play(scenario, tmp_path / "as_it_is")
    note, skipped, error, origin = Note.__init__, Skipped.__init__, JpoError.__init__, Origin.__str__

    def other_note(self: Note, code: str, text: str, about: str = "", remedy: str = "") -> None:
        note(self, code, text.translate(REWORDED), about, remedy.translate(REWORDED))

    def other_reason(self: Skipped, run_id: str, reason: str, code: str = "", count: int = 1) -> None:
        skipped(self, run_id, reason.translate(REWORDED), code, count)

    def other_error(self: JpoError, place: str, finding: str, remedy: str = "", *, code: str) -> None:
        error(self, place, finding.translate(REWORDED), remedy.translate(REWORDED), code=code)

    monkeypatch.setattr(Note, "__init__", other_note)
    monkeypatch.setattr(Skipped, "__init__", other_reason)
    monkeypatch.setattr(JpoError, "__init__", other_error)
    monkeypatch.setattr(Origin, "__str__", lambda self: origin(self).translate(REWORDED))
    monkeypatch.setattr(front, "LEFT_OUT", {why: text.translate(REWORDED) for why, text in front.LEFT_OUT.items()})
    found = json.dumps(play(scenario, tmp_path / "reworded"), ensure_ascii=False)
    assert any(letter in found for letter in OTHER)
    read_back = normalised(json.loads(found.translate(AS_BEFORE)), tmp_path)  # ids in sentences are only now as ids are
    if differing := list(differences(as_it_is, read_back)):
        pytest.fail(report(differing), pytrace=False)
