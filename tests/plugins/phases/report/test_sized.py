from __future__ import annotations

from jpo.plugins.phases.report.sized import Sized, as_json, document, patch_text
from jpo.plugins.phases.requests.rightsize import Sizes
from jpo.report.forms import json, text

SIZES = Sizes(1.16, 1.37, 1.05, 1.187, 0.907, 3, 0.46, -0.02, 4, 204)
SIZED = Sized("t.csv", SIZES, ("[resources]", "cpus = 2"), ("spec:", "  template: {}"))


def test_people_read_sizes_and_lines_to_copy() -> None:
    shown = text.render(document(SIZED), width=100, colour=False, encoding="utf-8")
    assert "Sizes by t.csv: 4 executions, 204 samples" in shown
    assert "1.05 GiB" in shown
    assert "46%" in shown
    assert "cpus = 2" in shown
    assert "spec:" in shown


def test_programs_read_cores_and_gib() -> None:
    shown = json.dumps(as_json(SIZED))
    assert '"cpu_limit": 1.37' in shown
    assert '"whole_cpus": 2' in shown


def test_the_patch_is_a_file() -> None:
    assert patch_text(SIZED) == "# by jpo phases rightsize from 4 executions\nspec:\n  template: {}\n"
