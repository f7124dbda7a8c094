from __future__ import annotations

import click
import pytest
from matplotlib import colormaps

from jpo.plugins.phases import fit
from jpo.plugins.phases.cli.options import METHODS, PALETTES, fitting_of, share


def test_help_names_what_there_is() -> None:
    assert METHODS == fit.METHODS
    assert set(PALETTES) <= set(colormaps)


def test_options_of_a_fit_arrive_as_they_were_given() -> None:
    options = fitting_of("crbm-kmeans", 0.99, 4, 7, history=5, hidden=9, learning_rate=0.5, epochs=11)
    assert (options.method, options.n_phases, options.seed) == ("crbm-kmeans", 4, 7)
    assert options.misses == pytest.approx(0.01)
    crbm = options.crbm
    assert (crbm.history, crbm.hidden, crbm.learning_rate, crbm.epochs, crbm.seed) == (5, 9, 0.5, 11, 7)


def test_a_share_is_a_percentage_or_a_ratio() -> None:
    assert [share(text) for text in ("95%", "0.95", "99.9%", "50%")] == [0.95, 0.95, 0.999, 0.5]
    for text in ("95", "100%", "nan", "1e-3", "many", "-90%"):
        with pytest.raises(click.BadParameter, match="must be a share from 50% to"):
            share(text)
