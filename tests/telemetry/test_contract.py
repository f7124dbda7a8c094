"""The contract with training jobs says the same in its table and in its constants."""

from __future__ import annotations

import re

from jpo.telemetry import contract


def test_the_table_lists_exactly_the_metrics():
    assert contract.__doc__ is not None
    assert tuple(re.findall(r"^\| (jpo_\w+)", contract.__doc__, re.MULTILINE)) == contract.METRICS


def test_counters_are_called_totals_and_times_are_seconds():
    assert {name for name in contract.METRICS if name.endswith("_total")} == {contract.SAMPLES, contract.CPU_SECONDS}
    assert contract.START.endswith("_seconds")
    assert contract.END.endswith("_seconds")
