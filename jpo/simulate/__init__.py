"""Training jobs drawn at random: what JPO believes of a workload before its first run, and where its agent is trained."""

from jpo.simulate.grids import random_candidates
from jpo.simulate.jobs import draw_jobs, jobs_of
from jpo.simulate.latents import Latents
from jpo.simulate.runs import SimulatedRun, draw_noise, observe

__all__ = ["Latents", "SimulatedRun", "draw_jobs", "draw_noise", "jobs_of", "observe", "random_candidates"]
