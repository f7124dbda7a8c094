"""Simulated training jobs: the prior of the belief about a workload, and the jobs on which the agent is trained.

jobs.py            jobs drawn on a set of candidates: duration, loss, utilisation, power, failures
latents.py         their random numbers; knobs.py: candidates in the simulator's coordinates
speed.py           step time; learning.py: epochs for the same progress; power.py: electric power
runs.py            noisy runs of a job
grids.py           random candidate sets
drift.py           growing data and changing hardware
installations.py   clusters whose jobs differ from the simulator's, job after job
"""

from jpo.simulate.jobs import draw_jobs, jobs_of
from jpo.simulate.latents import Latents

__all__ = ["Latents", "draw_jobs", "jobs_of"]
