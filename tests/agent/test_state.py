import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from jpo.agent.context import UNKNOWN, ChangeWatch, Context, EarlierJobs, PhaseSummary, Usage
from jpo.agent.safety.queue_waits import QueueWaits
from jpo.agent.state import (
    BOUND,
    OWN,
    PHASES,
    QUEUE,
    SCORED,
    SHARED,
    SHORTLIST,
    WIDTH,
    WITHOUT_PHASES,
    WITHOUT_QUEUE,
    features,
    observe,
)
from jpo.records import NAMED_PREFERENCES, Belief, Candidates, Preference
from tests.asked import a_problem

TIME = Preference(1, 0, 0)


def encode(belief, candidates, preference=TIME, context=UNKNOWN):
    return features(a_problem(candidates, belief, preference, context=context), candidates.admissible)


def shared(name):
    return len(OWN) + SHARED.index(name)


@pytest.mark.filterwarnings("error")
def test_a_batch_of_0_which_config_ini_may_say_counts_as_1(grid, belief):
    encoded = encode(belief([[0, -0.5, 0.5]]), grid(batches=(0, 2, 8)))
    assert encoded[:, OWN.index("log2 batch size against incumbent")].tolist() == [0, 0.5, 1.5]


def test_so_many_numbers_per_candidate(grid, belief):
    encoded = encode(belief([[0, -0.5, 0.5]]), grid())
    assert encoded.shape == (3, len(OWN) + len(SHARED) + len(QUEUE)) == (3, WIDTH)
    assert encoded.dtype == np.float32
    assert encoded[:, OWN.index("tried")].tolist() == [1, 0, 0]
    assert encoded[:, OWN.index("log2 batch size against incumbent")].tolist() == [0, 0.5, 1.0]
    assert (encoded[:, len(OWN) :] == encoded[0, len(OWN) :]).all()
    assert encoded[0, len(OWN) + SHARED.index("weight of time")] == 1.0


def test_an_unknown_loss_has_its_own_flag(grid, belief):
    column = len(OWN) + SHARED.index("loss known")
    assert encode(belief([[0, 1, 2]]), grid())[0, column] == 0
    assert encode(belief([[0, 1, 2]], val_loss=0.4), grid())[0, column] == 1


def test_what_is_not_known_of_the_context_is_zero_and_has_its_own_flag(grid, belief):
    believed = belief([[0, 1, 2]])
    unknown = encode(believed, grid())[0]
    later = a_problem(grid(), believed, TIME).comparison.weighed
    told = encode(
        believed, grid(), context=Context(0, 0.0, later, 0.0, ChangeWatch(np.array([0, np.nan, 3]), np.zeros(3), 0.0, 0.0))
    )[0]
    flags = [shared(name) for name in ("horizon known", "budget known", "later known", "age known", "last miss known")]
    assert unknown[flags].tolist() == [0] * 5
    assert told[flags].tolist() == [1] * 5
    others = [shared(name) for name in ("runs left", "budget slack", "last miss", "surprise")]
    assert unknown[others].tolist() == told[others].tolist() == [0] * 4


def test_phases_are_masked_where_nothing_is_known_of_them(grid, belief):
    believed = belief([[0, 1, 2]])
    assert not encode(believed, grid())[:, WITHOUT_PHASES:].any()
    seen = Context(phases=PhaseSummary(np.log(5), np.log(0.25), np.log(2), 0.0))
    encoded = encode(believed, grid(), context=seen)[0]
    assert [encoded[shared(f"{name} known")] for name in PHASES] == [1] * 4
    assert [encoded[shared(name)] for name in PHASES] == pytest.approx([np.log(5), np.log(0.25), np.log(2), 0.0])
    assert (encoded[:WITHOUT_PHASES] == encode(believed, grid())[0, :WITHOUT_PHASES]).all()


def test_the_queue_is_each_candidates_own_and_masked_where_no_engine_was_asked(grid, belief):
    """Batch sizes play the part of GPUs here: the first candidate need not wait, of the last one nothing is said."""
    believed, candidates = belief([[0, 0, 0]]), grid()
    amounts = candidates.values[:, candidates.names.index("batch_size")].tolist()
    queue = QueueWaits("batch_size", {amounts[0]: 0.0, amounts[1]: believed.duration_seconds}, free=amounts[0])
    plain, encoded = encode(believed, candidates), encode(believed, candidates, context=Context(queue=queue))
    assert not plain[:, WITHOUT_QUEUE:].any()
    assert (encoded[:, :WITHOUT_QUEUE] == plain[:, :WITHOUT_QUEUE]).all()
    assert encoded[:, WITHOUT_QUEUE:][:, :2].tolist() == [[0, 1], [pytest.approx(np.log(2)), 1], [0, 0]]
    assert encoded[0, WITHOUT_QUEUE + 2] == 0
    assert (np.diff(encoded[:, WITHOUT_QUEUE + 2]) < 0).all()
    assert encoded[:, WITHOUT_QUEUE + 3].all()


def test_the_expected_regret_is_that_of_each_jobs_own_optimum(grid, belief):
    """Two jobs: in one the second candidate takes half, in the other twice the time; the third always fails."""
    half = np.log(2)
    encoded = encode(belief([[0, -half, 0], [0, half, 0]], fails=[[0, 0, 1], [0, 0, 1]], p_fail=[0, 0, 1.0]), grid())
    regret = np.expm1(encoded[:, OWN.index("expected regret")])
    assert regret == pytest.approx([(2 + 1) / 2 - 1, (1 + 2) / 2 - 1, 2 * 1.5 - 1], abs=1e-5)


logs = arrays(np.float64, (4, 3), elements=st.floats(-700, 700))


@given(
    logs,
    logs,
    logs,
    logs,
    arrays(np.int64, 3, elements=st.integers(0, 10**6)),
    st.floats(0, 1),
    st.sampled_from(list(NAMED_PREFERENCES)),
)
def test_states_are_finite_and_bounded_under_any_belief(time, cost, loss, use, runs, p_fail, preference):
    candidates = Candidates(
        ("batch_size",), np.array([[1.0], [48.0], [1e9]]), 1, np.array([True, False, True]), np.array([-50.0, 0.0, 50.0])
    )
    believed = Belief(
        np.full(4, 0.25),
        time,
        cost,
        loss,
        use,
        np.array([[False, True, False]] * 4),
        np.full(3, p_fail),
        runs,
        runs[::-1],
        runs,
        0.1,
        None,
        None,
        0.0,
        knows_utilisation=True,
    )
    later = a_problem(candidates, believed, NAMED_PREFERENCES["cost"]).comparison.weighed
    context = Context(
        10**6, 700.0, later, 1.0, ChangeWatch(np.array([np.nan, 0, 10**6]), np.array([np.nan, -700, 700]), -700.0, 1.0)
    )
    encoded = encode(believed, candidates, NAMED_PREFERENCES[preference], context)
    assert np.isfinite(encoded).all()
    assert np.abs(encoded).max() <= BOUND


def test_the_shortlist_keeps_today_and_what_is_asked_for(grid, belief):
    k = SHORTLIST + 20
    candidates = grid(tuple(range(1, k + 1)), current=k - 1)
    believed = belief([np.linspace(-1, 1, k)], runs=[0] * k, failures=[0] * k)
    seen = observe(a_problem(candidates, believed, TIME), candidates.admissible, k - 2)
    assert len(seen.rows) == SHORTLIST == len(seen.features)
    assert {0, k - 2, k - 1} <= set(seen.rows.tolist())
    assert seen.rows[seen.index(k - 2)] == k - 2


def test_the_rules_choice_survives_the_bounds_where_much_is_surely_saved_over_a_long_horizon(grid, belief):
    """Candidates that take a tenth and a twentieth score far below -5 over 15 runs; both at the bound would be a tie."""
    believed = belief([[0, np.log(0.1), np.log(0.06)]])
    problem = a_problem(grid(), believed, TIME)
    assert problem.acquisition.score.argmin() == 2
    assert problem.acquisition.score[1] * SCORED / (1 + problem.acquisition.horizon) < -BOUND
    score = encode(believed, grid())[:, OWN.index("belief rule score")]
    assert score.argmin() == 2
    assert score[1] - score[2] == pytest.approx(
        (problem.acquisition.score[1] - problem.acquisition.score[2]) * SCORED / (1 + problem.acquisition.horizon), abs=1e-5
    )


def test_what_earlier_jobs_here_say_is_shown_and_masked_where_there_were_none(grid, belief):
    believed = belief([[0, -0.5, 0.5]])
    here = a_problem(grid(), belief([[0, 0.5, -0.5]]), TIME).acquisition
    told = encode(believed, grid(), context=Context(earlier=EarlierJobs(here, np.array([0, 0.5, 0]), 14)))
    own = [name for name in OWN if name.endswith("here")]
    assert told[:, OWN.index("p fails here")].tolist() == [0, 0.5, 0]
    assert told[:, OWN.index("mean here")] == pytest.approx([0, 0.5, -0.5])
    assert (told[0, shared("here known")], told[0, shared("jobs here")]) == (1, pytest.approx(np.log1p(14) / 4))
    unknown = encode(believed, grid())
    assert not unknown[:, [OWN.index(name) for name in own[:-1]]].any()
    assert own[-1] == "belief rule score here"
    assert unknown[:, OWN.index(own[-1])].tolist() == unknown[:, OWN.index("belief rule score")].tolist()
    assert not unknown[:, [shared("here known"), shared("jobs here")]].any()


def test_usage_is_shown_and_masked_number_by_number(grid, belief):
    told = encode(belief([[0, 1, 2]]), grid(), context=Context(usage=Usage(gpu_utilisation=0.4, sla_slack=0.0)))[0]
    assert told[shared("gpu_utilisation")] == pytest.approx(0.4)
    known = [name for name in SHARED if name.endswith(" known") and told[shared(name)]]
    assert {"gpu_utilisation known", "sla_slack known"} <= set(known)
    assert not {"cpu_utilisation known", "loss known"} & set(known)
