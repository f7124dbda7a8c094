from dataclasses import replace

import numpy as np

from jpo.agent.comparison import Comparison
from jpo.records import Preference

TIME = Preference(1, 0, 0)


def test_a_model_is_worse_against_the_reference(grid, belief):
    losses = np.log([[1.0, 1.0, 0.8]])
    believed = replace(belief([[0, 0, 0]], runs=(2, 2, 2), val_loss=0.5), log_loss=losses)
    assert Comparison(grid(), believed, TIME, reference=2).weighed.incumbent == 2
    assert Comparison(grid(), believed, TIME).weighed.incumbent == 0
