from __future__ import annotations

from matplotlib import colormaps

from jpo.plugins.phases import fit
from jpo.plugins.phases.cli.options import METHODS, PALETTES, fitting_of


def test_help_names_what_there_is() -> None:
    assert METHODS == fit.METHODS
    assert set(PALETTES) <= set(colormaps)


def test_options_of_a_fit_arrive_as_they_were_given() -> None:
    options = fitting_of("crbm-kmeans", 4, 7, history=5, hidden=9, learning_rate=0.5, epochs=11)
    assert (options.method, options.n_phases, options.seed) == ("crbm-kmeans", 4, 7)
    crbm = options.crbm
    assert (crbm.history, crbm.hidden, crbm.learning_rate, crbm.epochs, crbm.seed) == (5, 9, 0.5, 11, 7)
