from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from jpo.agent.policy import FIRST, SCORE, SHAPES, Policy, load_policy
from jpo.agent.state import WIDTH, WITHOUT_PHASES
from jpo.errors import StoreError
from jpo.history import Store, open_store
from jpo.learning import release
from jpo.learning.continual import Round, catch_up, untested
from jpo.learning.deadline import Deadline
from jpo.learning.job import DOMAINS
from jpo.learning.release import (
    CANDIDATE,
    CERTAINTY,
    CERTAINTY_OF_LOOKS,
    LOOKS,
    RELEASE_JOBS,
    SITUATIONS,
    THRESHOLD,
    Candidate,
    PairedJob,
    Release,
    ReleaseTest,
    candidate_of,
    compare,
    figures_of,
    release_if_passed,
    release_test,
)
from jpo.learning.release import (
    test_job as job_of,
)
from jpo.learning.serving import AGENT, POLICY, own_policy, policy_for
from jpo.records import Identity, Known, silently
from tests.learning.test_experience import REQUEST, RUNS


def of_score(slope: float, margin: float = 0.1) -> Policy:
    """A policy that expects `slope` runs more for each unit of the belief rule's score: -1 is the rule itself."""
    weights = {name: np.zeros(shape, np.float32) for name, shape in SHAPES.items()}
    weights["critics.w0"][:, SCORE, 0] = weights["critics.w1"][:, 0, 0] = 1.0
    weights["critics.b0"][:, 0, 0] = 5.0
    weights["critics.w2"][:, 0, 0] = slope
    return Policy((weights,), (), {}, margin)


RULE = of_score(-1.0)


def random_policy(seed: int = 0) -> Policy:
    rng = np.random.default_rng(seed)
    heads, _, hidden = SHAPES[FIRST]
    shapes = {**SHAPES, FIRST: (heads, WITHOUT_PHASES, hidden)}  # no simulated job has phases: they get no weight
    weights = {name: rng.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}
    weights[FIRST] = np.pad(weights[FIRST], ((0, 0), (0, WIDTH - WITHOUT_PHASES), (0, 0)))
    return Policy((weights,), (), {}, margin=0.0)


def played(policy: float, rule: float, *, situation: str = "safe", kept: float = 1.0, rule_kept: float = 1.0) -> PairedJob:
    return PairedJob(situation, policy, rule, kept, rule_kept)


def test_ratio_and_error_are_those_of_the_logs_of_paired_jobs() -> None:
    result = compare([played(1.0, 2.0), played(2.0, 1.0), played(3.0, 3.0)])
    assert (result.jobs, result.ratio) == (3, pytest.approx(1.0))
    assert result.standard_error == pytest.approx(np.log(2) / 3**0.5)
    assert result.end(1.0) == pytest.approx(2 ** (1 / 3**0.5))


def test_harm_is_the_share_of_jobs_that_cost_more_than_never_changing() -> None:
    jobs = [played(1.0, 1.0, kept=1.06, rule_kept=1.04), played(1.0, 1.0, kept=1.04, rule_kept=1.0)] * 2
    assert (compare(jobs).harm, compare(jobs).rule_harm) == (0.5, 0.0)


def result(ratio: float, error: float = 0.0, harm: float = 0.0, rule_harm: float = 0.0) -> Release:
    return Release(100, ratio, error, harm, rule_harm)


@pytest.mark.parametrize(
    ("pooled", "passed"),
    [
        (result(1.01), True),
        (result(1.011), False),
        (result(0.99, 0.008), True),
        (result(0.99, 0.009), False),  # .99 exp(2.41 x .009) = 1.0117: it may be luck
        (result(0.9, 0.001, harm=0.03, rule_harm=0.02), True),
        (result(0.9, 0.001, harm=0.031, rule_harm=0.02), False),
    ],
)
def test_pooled_the_whole_interval_must_lie_below_the_threshold_without_more_harm(pooled: Release, passed: bool) -> None:
    assert pooled.passed_pooled == passed
    assert ReleaseTest(pooled, {}).released == (DOMAINS if passed else ())


def test_one_situation_significantly_above_the_threshold_keeps_it_back_and_a_doubtful_one_does_not() -> None:
    significant, doubtful = result(1.05, 0.019), result(1.05, 0.021)
    assert doubtful.end(-CERTAINTY) < THRESHOLD < significant.end(-CERTAINTY)
    good = {"safe": result(0.98), "on": doubtful}
    assert ReleaseTest(result(0.98), good).released == DOMAINS
    assert ReleaseTest(result(0.98), {**good, "drift": significant}).released == ()


def test_the_pooled_interval_is_wider_as_the_data_are_looked_at_several_times() -> None:
    """Simulated: a policy 1% worse than the rule passes one of the looks in 1.25% of the tests, one in 40 with a single look."""
    rng = np.random.default_rng(0)
    logs = np.log(THRESHOLD) + rng.normal(0, 0.1, (4000, LOOKS, 100))
    passes = {}
    for errors in (CERTAINTY, CERTAINTY_OF_LOOKS):
        ends = [
            logs[:, :look].mean(axis=(1, 2)) + errors * logs[:, :look].std(axis=(1, 2)) / (100 * look) ** 0.5
            for look in range(1, LOOKS + 1)
        ]
        passes[errors] = (np.array(ends) <= np.log(THRESHOLD)).any(axis=0).mean()
    assert passes[CERTAINTY_OF_LOOKS] < 0.03 < passes[CERTAINTY]


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Jobs of four runs, with few jobs before them."""
    monkeypatch.setattr("jpo.learning.scenarios.RUNS", 4)
    monkeypatch.setattr(release, "MOST_JOBS", 3)


@pytest.mark.usefixtures("short")
def test_jobs_go_round_every_situation_half_of_them_on_installations_as_simulated() -> None:
    jobs = [job_of(seed) for seed in range(40)]
    assert {name for name, _ in jobs} == set(SITUATIONS)
    assert sum(name in DOMAINS for name, _ in jobs) == 20
    assert {job.boldness.explore for _, job in jobs[1::2]} == {"safe", "on"}
    assert any(job.installation is None for _, job in jobs[::2]), "some are the first of their installation"
    assert all(job.installation is not None for _, job in jobs[1::2])


@pytest.mark.usefixtures("short")
def test_a_policy_that_is_the_rule_has_a_ratio_of_one() -> None:
    test = release_test(RULE, range(1, 9))
    assert (test.pooled.jobs, test.pooled.ratio, test.pooled.standard_error) == (8, 1.0, 0.0)
    assert test.pooled.harm == test.pooled.rule_harm
    assert test.released == DOMAINS


@pytest.mark.usefixtures("short")
def test_a_policy_of_random_weights_does_not_pass() -> None:
    test = release_test(random_policy(), range(1, 15))
    assert test.released == ()
    assert test.pooled.ratio > 1.05
    assert test == release_test(random_policy(), range(1, 15)), "the same each time"
    assert set(figures_of(test)) == {"pooled", *test.situations}
    assert figures_of(test)["pooled"]["ratio"] == test.pooled.ratio


@pytest.mark.parametrize(
    ("ratio", "spread", "jobs", "released"),
    [
        (1.0, 0.0, 660, True),  # the rule itself: each situation has had its say
        (1.05, 0.0, 220, False),  # clearly worse
        (0.99, 0.18, 880, True),  # clear at the fourth look
        (1.01, 0.1, 1100, False),  # not clear before the end
    ],
)
def test_it_stops_as_soon_as_it_is_clear_whether_a_policy_passes(
    monkeypatch: pytest.MonkeyPatch, ratio: float, spread: float, jobs: int, released: bool
) -> None:
    """At every fifth of 1,100 jobs: the standard error after 220 is 1/15 of the spread."""
    sides = lambda seed: float(np.exp(spread * (-1) ** (seed // len(SITUATIONS))))  # noqa: E731

    def stand_in(_policy: Policy, seed: int) -> PairedJob:
        return played(ratio * sides(seed), 1.0, situation=SITUATIONS[seed % len(SITUATIONS)])

    monkeypatch.setattr(release, "played_by_both", stand_in)
    test = release_test(RULE, range(RELEASE_JOBS))
    assert (test.pooled.jobs, test.released) == (jobs, DOMAINS if released else ())
    assert test.pooled.ratio == pytest.approx(ratio, rel=0.02)
    assert set(test.situations) == set(SITUATIONS)


def test_a_tested_agent_is_saved_with_its_result_and_decides_where_it_passed(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch", reason="torch is not installed; it is needed for learning only")
    ratios = iter([1.2, 0.98])
    asked: list[list[int]] = []

    def stand_in(_policy: Policy, seed: int) -> PairedJob:
        asked[-1].append(seed)
        return played(ratio, 1.0, situation=SITUATIONS[seed % len(SITUATIONS)])

    monkeypatch.setattr(release, "played_by_both", stand_in)
    with open_store("sqlite://") as store:
        shipped = policy_for(store, "safe")
        for runs, released in ((RUNS[:3], ()), (RUNS, DOMAINS)):
            ratio = next(ratios)
            asked.append([])
            catch_up(store, Identity("d", "m", "f"), Known(tuple(runs)), REQUEST, Round(0, 1.0, seconds=60.0))
            test = release_if_passed(store, silently, now=1.0)
            assert isinstance(test, ReleaseTest)
            assert test.released == released
            assert not untested(store)
            saved = store.load_agent(POLICY)
            assert saved is not None
            assert load_policy(saved[0]).released == released
            decides = policy_for(store, "safe")
            assert decides is not None
            assert shipped is not None
            assert decides.digest == (load_policy(saved[0]) if released else shipped).digest
        records = [record.data for record in store.audit_records() if record.kind == "tested"]
        assert [record["released"] for record in records] == [[], list(DOMAINS)]
        assert store.load_agent(AGENT) is not None
    assert not set(asked[0]) & set(asked[1]), "jobs that it never met"


@pytest.fixture
def learnt_store() -> Iterator[Store]:
    """A store with an agent that has learnt."""
    pytest.importorskip("torch", reason="torch is not installed; it is needed for learning only")
    with open_store("sqlite://") as store:
        catch_up(store, Identity("d", "m", "f"), Known(tuple(RUNS[:3])), REQUEST, Round(0, 1.0))
        yield store


@pytest.mark.slow
@pytest.mark.usefixtures("short")
def test_a_test_in_several_goes_ends_as_one_in_a_single_go_whatever_is_learnt_meanwhile(
    learnt_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(release, "RELEASE_JOBS", 60)
    with open_store("sqlite://") as other:
        catch_up(other, Identity("d", "m", "f"), Known(tuple(RUNS[:3])), REQUEST, Round(0, 1.0))
        whole = release_if_passed(other, silently, now=1.0)
    counts, meanwhile = [], Known(tuple(RUNS))
    for _ in range(100):
        result = release_if_passed(learnt_store, silently, now=1.0, until=AfterSteps(7))
        if isinstance(result, ReleaseTest):
            break
        counts.append(len(result.played))
        catch_up(learnt_store, Identity("d", "m", "f"), meanwhile, REQUEST, Round(0, 1.0))
        assert own_policy(learnt_store) is None, "nothing decides by half a test"
    assert result == whole
    assert counts[:3] == [7, 14, 21]
    assert untested(learnt_store), "what was learnt meanwhile is the next candidate"
    assert candidate_of(learnt_store, anew=False).played == []


class AfterSteps(Deadline):
    """Up after so many steps."""

    def __init__(self, steps: int) -> None:
        super().__init__()
        self.steps = steps

    def no_later_than(self, seconds: float) -> Deadline:
        return self

    def __call__(self) -> bool:
        self.steps -= 1
        return self.steps < 0


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize("damage", ["bytes", "version", "jobs"])
def test_a_test_that_cannot_be_gone_on_with_begins_anew(
    learnt_store: Store, monkeypatch: pytest.MonkeyPatch, damage: str
) -> None:
    begun = release_if_passed(learnt_store, silently, now=1.0, until=AfterSteps(2))
    assert isinstance(begun, Candidate)
    assert len(candidate_of(learnt_store, anew=False).played) == 2
    assert candidate_of(learnt_store, anew=True).played == [], "as --rebuild wants"
    if damage == "bytes":
        learnt_store.save_agent(CANDIDATE, b"no policy", expected_version=begun.version)
    elif damage == "jobs":
        replace(begun, played=[PairedJob("safe", 0.0, 1.0, 1.0, 1.0)]).saved(learnt_store)
    else:
        monkeypatch.setattr(release, "MADE_BY", "jpo 99")
    assert candidate_of(learnt_store, anew=False).played == []
    after = release_if_passed(learnt_store, silently, now=1.0, until=AfterSteps(3))
    assert isinstance(after, Candidate)
    assert len(after.played) == 3


@pytest.mark.usefixtures("short")
def test_two_who_go_on_with_one_test_lose_none_of_it(learnt_store: Store) -> None:
    first = release_if_passed(learnt_store, silently, now=1.0, until=AfterSteps(2))
    assert isinstance(first, Candidate)
    release_if_passed(learnt_store, silently, now=1.0, until=AfterSteps(3))
    with pytest.raises(StoreError, match="was saved by another process"):
        first.saved(learnt_store)
    assert len(candidate_of(learnt_store, anew=False).played) == 5


@pytest.mark.usefixtures("short")
def test_costs_are_bounded_and_kept_ones_are_against_never_changing() -> None:
    one = release.played_by_both(replace(RULE, margin=9.0), 3)
    assert 1 / 4 < one.policy == one.rule <= 4
    assert one.policy_kept == one.rule_kept > 0
