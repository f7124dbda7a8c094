from __future__ import annotations

import json
from dataclasses import replace

from fleets import fleet, lane, run

from jpo.cli.output import rendered
from jpo.plugins.lab.report import policies as subject

RULE = fleet(lane([run(100)] * 2, [run(90)] * 2, goal=0.9), lane([run(100)] * 2, [run(100)] * 2))
AGENT = replace(fleet(lane([run(100)] * 2, [run(45)] * 2, goal=0.45), RULE.lanes[1]), decided_by={"sac": 3, "no evidence": 1})
BOTH = {"belief": RULE, "sac": AGENT}
IN_TURN = {name: replace(one, lanes=(RULE.lanes[1],) * 20 + one.lanes[:1], installation="none") for name, one in BOTH.items()}


def test_each_policy_has_a_row_and_the_first_is_the_reference() -> None:
    lines = rendered(subject, BOTH, "text").split("\n")
    assert "2 simulated workloads × 2 runs" in lines[0]
    assert next(line for line in lines if line.startswith("belief")).split() == (
        ["belief", "-5%", "reference", "-5%", "4", "0", "0.95", "USD"]
    )
    agent = next(line for line in lines if line.startswith("sac"))
    assert "-29% (-50% to ±0%)" in agent
    assert agent.endswith("75%")


def test_later_workloads_have_a_table_of_their_own() -> None:
    text = rendered(subject, IN_TURN, "text")
    before, after = text.split("after the first 20 workloads")
    assert "sac      -4%" in before
    assert "-55%" in after
    assert "after the first 20" not in rendered(subject, BOTH, "text")


def test_programs_get_each_fleet_in_full() -> None:
    document = json.loads(rendered(subject, BOTH, "json"))
    assert (document["reference"], list(document["policies"])) == ("belief", ["belief", "sac"])
    assert document["policies"]["belief"]["against_reference"] == {"mean": 1.0, "low": 1.0, "high": 1.0}
    assert document["policies"]["sac"]["fleet"]["overall"]["decided_by"] == {"sac": 3, "no evidence": 1}
    assert len(document["policies"]["sac"]["fleet"]["workloads"]) == 2
    assert document["policies"]["sac"]["later"] is None
    assert json.loads(rendered(subject, IN_TURN, "json"))["policies"]["sac"]["later"]["failed"] == 0


def test_every_form_renders() -> None:
    assert "| `sac` |" in rendered(subject, IN_TURN, "markdown")
    assert "sac" in rendered(subject, IN_TURN, "html")
