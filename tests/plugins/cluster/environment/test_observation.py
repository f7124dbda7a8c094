"""What is seen has one size on any platform, and no true run time in it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from jpo.plugins.cluster.environment.episode import Episode, EpisodeOptions
from jpo.plugins.cluster.environment.observation import Observer
from jpo.plugins.cluster.platform.platform import equal_processors
from jpo.plugins.cluster.workload.demand import one_core_each
from jpo.plugins.cluster.workload.lublin import draw_jobs


def test_the_size_is_the_same_on_any_platform_and_run_times_are_not_seen() -> None:
    jobs = draw_jobs(30, 8, load=2.0, seed=0)
    other = replace(jobs, run_seconds=jobs.run_seconds / 2)
    seen = []
    for one, processors in ((jobs, 8), (other, 8), (jobs, 800)):
        episode = Episode(one, one_core_each(one), equal_processors(processors), EpisodeOptions(slots=8))
        seen.append(Observer(episode).observe(episode.mask()))
    assert seen[0].shape == seen[2].shape
    assert np.array_equal(seen[0], seen[1])
