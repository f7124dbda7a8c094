from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jpo.forecast.transfer import (
    MEMBERS,
    TRUST_IN_OWN,
    TRUST_IN_SHIPPED,
    Surfaces,
    basis,
    coordinates,
    fit_surfaces,
    shipped_surfaces,
    transfer_surfaces,
)
from jpo.records import Candidates, Identity, Outcome, Run, RunStatus

GRID = [2.0**i for i in range(4, 10)]


def candidates(names: tuple[str, ...], *rows: tuple[float, ...]) -> Candidates:
    return Candidates(names, np.array(rows, dtype=np.float64), 0, np.ones(len(rows), dtype=np.bool_), np.zeros(len(rows)))


BATCHES = candidates(("batch_size",), *((batch,) for batch in GRID))


def job(name: str, power: float, values: list[float] = GRID, loss: float | None = None, **held: float) -> list[Run]:
    """Runs that take batch^power seconds."""
    return [
        Run(
            f"{name}{i}",
            Identity(name, "m", "f"),
            {"batch_size": batch, **held},
            RunStatus.SUCCEEDED,
            None,
            float(i),
            Outcome(duration_seconds=1000 * batch**power, val_loss=loss),
            "csv",
        )
        for i, batch in enumerate(values)
    ]


def test_all_products_up_to_the_third_degree() -> None:
    assert basis(np.array([[2.0, 3.0]]))[0] == pytest.approx([1, 2, 3, 4, 6, 9, 8, 12, 18, 27])


def test_coordinates_are_absolute_and_end_at_two_and_a_half() -> None:
    points = coordinates(candidates(("batch_size",), (2**6.5,), (2**9,), (1e30,), (0,)), ("batch_size",))
    assert points[:, 0] == pytest.approx([0, 1, 2.5, -2.5])


def test_a_new_job_is_expected_to_be_like_those_that_were_learnt() -> None:
    surfaces = fit_surfaces([*job("a", -0.5), *job("b", -0.7)], ("batch_size",))
    transferred = transfer_surfaces(surfaces, BATCHES, seed=0)
    assert transferred is not None
    assert transferred.trust == pytest.approx(TRUST_IN_OWN)
    assert transferred.draws.log_time.shape == (MEMBERS, len(GRID))
    assert (transferred.draws.log_time[:, 0] == 0).all()
    assert transferred.draws.log_time[:, -1].mean() == pytest.approx(-0.6 * math.log(32), abs=0.25)
    assert not transferred.draws.fails.any()


def test_members_spread_as_the_jobs_differ() -> None:
    alike, apart = (
        transfer_surfaces(fit_surfaces([*job("a", -0.5 - by), *job("b", -0.5 + by)], ("batch_size",)), BATCHES, 0)
        for by in (0.01, 0.4)
    )
    assert alike is not None
    assert apart is not None
    assert apart.draws.log_time[:, -1].std() > 3 * alike.draws.log_time[:, -1].std()


def test_the_same_seed_recalls_the_same_surfaces() -> None:
    surfaces = fit_surfaces([*job("a", -0.5), *job("b", -0.7)], ("batch_size",))
    first, again, other = (transfer_surfaces(surfaces, BATCHES, seed) for seed in (1, 1, 2))
    assert first is not None
    assert again is not None
    assert other is not None
    assert (first.draws.log_time == again.draws.log_time).all()
    assert (first.draws.log_time != other.draws.log_time).any()


def test_three_configurations_say_nothing_about_a_surface_even_if_other_values_varied() -> None:
    few = [*job("a", -0.5, GRID[:3]), *job("b", -0.5, GRID[:3])]
    varied = [run for n in range(5) for run in job("c", -0.5, GRID[:3], momentum=n / 10)]
    assert fit_surfaces([*few, *varied], ("batch_size",)) == []
    assert transfer_surfaces([], BATCHES, 0) is None


def test_one_job_alone_is_not_recalled_nor_does_it_get_its_trust_from_others() -> None:
    """Nothing but noise would be drawn from one job; the shipped surfaces, which are several, come next."""
    names = shipped_surfaces().names
    flat, one = np.zeros((1, 35)), np.ones(len(names))
    lonely = Surfaces(names[::-1], -one, one, flat, flat, TRUST_IN_OWN, np.ones(1))
    rows = candidates(names, (32, 0.01, 2, 20), (64, 0.01, 2, 20))
    assert transfer_surfaces([lonely], rows, 0) is None
    transferred = transfer_surfaces([lonely, shipped_surfaces()], rows, 0)
    assert transferred is not None
    assert transferred.trust == TRUST_IN_SHIPPED


def test_surfaces_over_other_parameters_are_not_recalled() -> None:
    surfaces = fit_surfaces([*job("a", -0.5), *job("b", -0.7)], ("batch_size",))
    both = candidates(("batch_size", "gpus"), (32, 1), (64, 2))
    assert transfer_surfaces(surfaces, both, 0) is None
    assert transfer_surfaces(surfaces, candidates(("batch_size", "gpus"), (32, 1), (64, 1)), 0) is not None  # gpus stay
    assert transfer_surfaces(surfaces, candidates(("batch_size",), (32,)), 0) is None


def test_a_job_of_few_runs_weighs_less_than_one_of_many() -> None:
    """A cubic of one parameter has four coefficients: four configurations are all used up for them."""
    few, many = fit_surfaces(job("a", -0.5, GRID[:5]), ("batch_size",)), fit_surfaces(job("b", -0.5, GRID * 6), ("batch_size",))
    assert few[0].weights == pytest.approx([0.2])
    assert many[0].weights == pytest.approx([32 / 36])
    assert fit_surfaces(job("a", -0.5, GRID[:4] * 9), ("batch_size",)) == []
    rows = candidates(("batch_size",), (32,), (256,))
    steep = [*job("a", -1.0, GRID[:5]), *job("b", 0.0, GRID * 6), *job("c", 0.0, GRID * 6)]
    transferred = transfer_surfaces(fit_surfaces(steep, ("batch_size",)), rows, 0)
    assert transferred is not None
    assert transferred.draws.log_time.mean(axis=0)[1] > -0.8 * math.log(8) / 3  # an equal share would be a third


def test_own_surfaces_of_few_runs_are_never_in_front_of_better_shipped_ones() -> None:
    names = ("batch_size", "learning_rate")
    own = replace(fit_surfaces([*job("a", -0.5), *job("b", -0.7)], ("batch_size",))[0], names=names, weights=np.array([0.2, 0.2]))
    own = replace(own, low=-np.ones(2), high=np.ones(2), log_time=np.zeros((2, 10)), log_loss=np.zeros((2, 10)))
    rows = candidates(shipped_surfaces().names, (32, 0.01, 2, 20), (64, 0.02, 2, 20))
    transferred = transfer_surfaces([own, shipped_surfaces()], rows, 0)
    assert transferred is not None
    assert transferred.trust == pytest.approx(TRUST_IN_SHIPPED)


def test_trust_shrinks_with_the_share_of_candidates_outside_of_what_was_recorded() -> None:
    surfaces = fit_surfaces([*job("a", -0.5), *job("b", -0.7)], ("batch_size",))
    transferred = transfer_surfaces(surfaces, candidates(("batch_size",), (32,), (64,), (1024,), (4096,)), 0)
    assert transferred is not None
    assert transferred.trust == pytest.approx(TRUST_IN_OWN / 2)


def test_a_loss_that_was_never_measured_leaves_only_small_residuals() -> None:
    transferred = transfer_surfaces(fit_surfaces([*job("a", -0.5), *job("b", -0.7)], ("batch_size",)), BATCHES, 0)
    assert transferred is not None
    assert np.abs(transferred.draws.log_loss.mean(axis=0)).max() < 0.05
    assert transferred.draws.log_loss.std() < 0.2


@pytest.mark.parametrize(("batches", "loss"), [([32.0] * 9, 0.5), ([0.0, -5.0, 1e300, 1e-300], -1.0), (GRID, 1e300)])
def test_strange_jobs_give_finite_surfaces(batches: list[float], loss: float) -> None:
    runs = [*job("a", 0.0, batches, loss, cpus=4), *job("b", 0.0, GRID, loss, cpus=4), *job("c", -0.1, GRID, None, cpus=4)]
    surfaces = fit_surfaces(runs, ("batch_size",))
    transferred = transfer_surfaces(surfaces, candidates(("batch_size", "cpus"), (32, 4), (64, 4)), 0)
    assert transferred is not None
    assert np.isfinite(transferred.draws.log_time).all()
    assert np.isfinite(transferred.draws.log_loss).all()


@given(
    data=st.lists(
        st.tuples(
            st.integers(0, 3),
            st.floats(-1e300, 1e300),
            st.floats(0, 1e308),
            st.none() | st.floats(-1e308, 1e308),
            st.sampled_from(RunStatus),
        ),
        max_size=30,
    )
)
@settings(max_examples=60)
def test_no_history_breaks_what_is_recalled(data: list[tuple[int, float, float, float | None, RunStatus]]) -> None:
    runs = [
        Run(
            str(i),
            Identity(str(who), "m", "f"),
            {"batch_size": batch},
            status,
            None,
            i,
            Outcome(duration_seconds=s, val_loss=loss),
            "",
        )
        for i, (who, batch, s, loss, status) in enumerate(data)
    ]
    transferred = transfer_surfaces([*fit_surfaces(runs, ("batch_size",)), shipped_surfaces()], BATCHES, 0)
    if transferred is not None:
        assert np.isfinite(transferred.draws.log_time).all()
        assert np.abs(transferred.draws.log_loss).max() <= 6
        assert 0 <= transferred.trust <= 1


def test_no_ratio_is_beyond_four_hundred() -> None:
    """The jobs' own are: 32^9."""
    transferred = transfer_surfaces(fit_surfaces([*job("a", 9), *job("b", 10)], ("batch_size",)), BATCHES, 0)
    assert transferred is not None
    assert np.abs(transferred.draws.log_time).max() == 6


def test_no_parameter_no_surface() -> None:
    assert fit_surfaces(job("a", -0.5), ()) == []


def test_the_shipped_surfaces_are_finite_and_of_many_jobs() -> None:
    shipped = shipped_surfaces()
    assert np.isfinite(shipped.log_time).all()
    assert np.isfinite(shipped.log_loss).all()
    assert len(shipped.log_time) > 5
    assert (shipped.low < shipped.high).all()
