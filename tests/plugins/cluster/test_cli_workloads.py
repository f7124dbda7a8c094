"""Help of options that the cluster lab shares: it names what there is without importing it."""

from __future__ import annotations

from jpo.plugins.cluster.cli import FORMS
from jpo.plugins.cluster.cli_workloads import RESOURCES_HELP, SELECTIONS_HELP
from jpo.plugins.cluster.machine.placement import RESOURCES
from jpo.plugins.cluster.queueing.selection import NAMES
from jpo.plugins.cluster.workload import convert


def test_the_help_names_every_policy_and_every_form() -> None:
    assert [name for name in NAMES if name not in SELECTIONS_HELP] == []
    assert [name for name in RESOURCES if name not in RESOURCES_HELP] == []
    assert (*convert.FORMS, "phases") == FORMS  # of traces, which are no table of jobs
