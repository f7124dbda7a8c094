"""Help of options that the cluster lab shares: it names what there is without importing it."""

from __future__ import annotations

from jpo.cli.cluster import FORMS
from jpo.cli.workloads import RESOURCES_HELP, SELECTIONS_HELP
from jpo.cluster.machine.placement import RESOURCES
from jpo.cluster.queueing.selection import NAMES
from jpo.cluster.workload import convert


def test_the_help_names_every_policy_and_every_form() -> None:
    assert [name for name in NAMES if name not in SELECTIONS_HELP] == []
    assert [name for name in RESOURCES if name not in RESOURCES_HELP] == []
    assert (*convert.FORMS, "phases") == FORMS  # of traces, which are no table of jobs
