"""Everything that JPO needs around it, looked at thing by thing for `jpo doctor`. Nothing is written.

A check is a function from a Case (case.py) to lines. What it raises becomes a line of its own in the command.
"""

from __future__ import annotations

from collections.abc import Mapping

from jpo.commands.doctor.agent import agent, learnt
from jpo.commands.doctor.case import Check
from jpo.commands.doctor.history_store import gpus_at_work, place, record
from jpo.commands.doctor.installed import guard, learning, packages, pipeline, python
from jpo.commands.doctor.own_files import config_ini, limits, secrets, settings, writable
from jpo.commands.doctor.plugin_checks import plugins
from jpo.commands.doctor.runs import access, csv_logs, prometheus
from jpo.commands.doctor.this_machine import cpus_and_memory, gpus, room

CHECKS: Mapping[str, tuple[Check, ...]] = {
    "Installation": (python, packages, learning, guard, pipeline, plugins),
    "Project": (settings, secrets, config_ini, limits, writable),
    "Machine": (gpus, cpus_and_memory, room),
    "Prometheus": (access, prometheus),
    "CSV logs": (csv_logs,),
    "Store": (place, record, agent, learnt, gpus_at_work),
}
"""The core's checks, by the topics of the report, in its order; those of plugins come after them."""
