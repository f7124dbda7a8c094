"""A config.ini as JPO understands it, in all forms."""

from __future__ import annotations

import json
from pathlib import Path

from made import DIGITS

from jpo.cli.output import rendered
from jpo.records import Identity, Note, Parameter
from jpo.report import check
from jpo.report.check import CheckedConfig

PARAMETERS = (
    Parameter("batch_size", "training.batch_size", 16.0, "16", 7),
    Parameter("epochs", "training.epochs", 40.0, "40", 12, held=Note("", "frozen in jpo.toml")),
)
CHECKED = CheckedConfig(Path("config.ini"), DIGITS, PARAMETERS, (Note("JPO-W869", "few CPUs"), Note("", "uneven")), 18, 18)


def test_people_read_what_each_line_means() -> None:
    assert rendered(check, CHECKED, "text") == (
        "config.ini: workload digits/cnn/pytorch\n"
        "\n"
        "line  key                  value  parameter\n"
        "   7  training.batch_size  16     batch_size 16\n"
        "  12  training.epochs      40     epochs 40, frozen in jpo.toml\n"
        "\n"
        "- few CPUs [JPO-W869]\n"
        "- uneven\n"
        "\n"
        "valid; 18 rules kept\n"
    )


def test_programs_read_the_same() -> None:
    document = json.loads(rendered(check, CHECKED, "json"))
    assert (document["config"], document["rules_kept"]) == ("config.ini", 18)
    assert document["workload"] == {"dataset": "digits", "model": "cnn", "framework": "pytorch"}
    assert document["parameters"][1] == {
        "parameter": "epochs",
        "key": "training.epochs",
        "line": 12,
        "text": "40",
        "value": 40.0,
        "held": "frozen in jpo.toml",
    }
    assert document["remarks"] == [{"text": "few CPUs", "code": "JPO-W869"}, {"text": "uneven", "code": None}]


def test_names_from_the_file_stay_texts_in_every_form() -> None:
    hostile = CheckedConfig(Path("c.ini"), Identity("\x1b[31m<script>", "m|x", "f"), PARAMETERS, (), 1, 1)
    assert "\x1b" not in rendered(check, hostile, "text")
    assert rendered(check, hostile, "markdown").startswith("### c.ini: workload **\\[31m\\<script\\>/m\\|x/f**\n")
    page = rendered(check, hostile, "html")
    assert page.startswith("<!DOCTYPE html>")
    assert "<script>" not in page
