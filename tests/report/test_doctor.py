"""What `jpo doctor` found, in all forms."""

from __future__ import annotations

import json

from made import DIGITS

from jpo.cli.output import rendered
from jpo.report import doctor
from jpo.report.doctor import Checkup, Line

LINES = (
    Line("python", "ok", "3.11", topic="Installation"),
    Line("learning", "ok", "not installed", "pip install it", "JPO-I140", topic="Installation"),
    Line("server", "problem", "no answer from <b>", "check the address", "JPO-E101", 4, "Prometheus"),
    Line("clock", "warning", "2 minutes late", topic="Prometheus"),
    Line("pods", "warning", "none", topic="Prometheus"),
)
CHECKUP = Checkup(LINES, "1.0", DIGITS)


def test_below_a_finding_is_what_to_do_and_at_the_end_a_sum() -> None:
    assert rendered(doctor, CHECKUP, "text") == (
        "Installation\n"
        "  ok  python    3.11\n"
        "  ok  learning  not installed\n"
        "                → pip install it [JPO-I140]\n"
        "\n"
        "Prometheus\n"
        "  problem  server  no answer from <b>\n"
        "                   → check the address [JPO-E101]\n"
        "  warning  clock   2 minutes late\n"
        "  warning  pods    none\n"
        "\n"
        "1 problem, 2 warnings, 2 ok\n"
    )


def test_the_exit_code_is_that_of_the_first_problem() -> None:
    assert CHECKUP.exit_code == 4
    assert Checkup(LINES[:2], "1.0", None).exit_code == 0


def test_programs_read_every_check_and_null_where_there_is_nothing() -> None:
    document = json.loads(rendered(doctor, CHECKUP, "json"))
    assert (document["jpo"], document["exit_code"], document["workload"]["model"]) == ("1.0", 4, "cnn")
    assert document["checks"][0] == {
        "topic": "Installation",
        "name": "python",
        "status": "ok",
        "finding": "3.11",
        "next_step": None,
        "code": None,
    }


def test_markdown_and_html_escape_what_servers_say() -> None:
    text = rendered(doctor, CHECKUP, "markdown")
    assert text.startswith("### Everything that JPO needs\n\n**1 problem, 2 warnings, 2 ok**\n\n#### Installation\n")
    assert "<title>Everything that JPO needs</title>" in rendered(doctor, CHECKUP, "html")
    assert "| **problem** | server | no answer from \\<b\\> |" in text
    page = rendered(doctor, CHECKUP, "html")
    assert page.startswith("<!DOCTYPE html>")
    assert "no answer from &lt;b&gt;" in page
