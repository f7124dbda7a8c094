from __future__ import annotations

import json

from plugins.page.report.sample import CHAIN, REVIEW

from jpo.plugins.page.report.published import as_json
from jpo.report.forms import json as form


def test_the_document_has_all_and_what_is_not_known_is_null() -> None:
    found = json.loads(form.dumps(as_json(REVIEW)))
    assert found["schema_version"] == 1
    assert found["saved"] == {"duration_seconds": {"mean": 31.0, "low": 20.0, "high": 42.0}, "cost_usd": None}
    assert found["audit"] | {"notable": [], "kinds": {}} == {
        "intact": True,
        "records": 7,
        "head": CHAIN.head,
        "first_bad": None,
        "reason": None,
        "kinds": {},
        "notable": [],
        "contradicted": [],
    }
    (workload,) = found["workloads"]
    assert workload["workload"] == {"dataset": "digits", "model": "cnn", "framework": "pytorch"}
    assert workload["before_after"]["first_change"] == 100.0
    (made,) = workload["suggestions"]
    assert (made["suggestion_id"], made["result"], made["asked_by"], made["inside"]) == ("s1", "written", "ada github", 1)
    assert made["actual_duration_seconds"] == 50.0
    assert [(entry["run_id"], entry["cost_usd"], entry["sla"]) for entry in workload["runs"]] == [
        ("r1", 0.5, "ok"),
        ("bad", None, "unknown"),
    ]
    assert found["learning"]["learnt"][0]["what"] == "2 runs taken in, 40 updates altogether"
