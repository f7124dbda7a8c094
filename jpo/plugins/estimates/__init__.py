"""Rough forecasts: what a run takes and needs before any run was measured, by arithmetic of what config.ini says.

shape.py         language models by name (models.csv) or by layers and widths: parameters, operations, saved activations
ways.py          how a job trains, as its options say it, and what is possible where they say nothing
planned_job.py   a job before its first run, and the GPU that it is to run on (gpus.csv)
arithmetic.py    memory of a GPU, throughput, duration and energy, with intervals
fits.py          the warning that a run needs more than a GPU has, with the nearest that fits
project.py       all of it for one project

They stand until one run of the workload has ended well: from then on what was measured counts alone. No hub is asked.
"""

from jpo.plugin import Plugin

PLUGIN = Plugin(
    "estimates",
    summary="rough forecasts before the first run",
    offers={"estimates": "jpo.plugins.estimates.project:estimates_of"},
)
