from __future__ import annotations

import math
import subprocess
import sys
import time
from collections.abc import Callable, Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jpo import Advisor, Outcome, Preference, Range
from jpo.errors import UsageError
from jpo.records import Identity, Run, RunStatus

SPACE = {"batch_size": [32, 64, 128], "gpus": [1, 2, 4]}
NOW = {"batch_size": 32, "gpus": 1}
Reply = Callable[[Mapping[str, object], int], Outcome]


def advisor(**options: object) -> Advisor:
    return Advisor(**{"space": SPACE, "current": NOW, **options})  # type: ignore[arg-type]


def took(seconds: float, **outcome: float | bool) -> Outcome:
    return Outcome(duration_seconds=seconds, **outcome)  # type: ignore[arg-type]


def job(parameters: Mapping[str, object], _run: int = 0) -> Outcome:
    """The larger the batch and the more GPUs, the faster; two GPUs are cheapest."""
    batch, gpus = float(parameters["batch_size"]), float(parameters["gpus"])  # type: ignore[arg-type]
    return took(100 * (32 / batch) ** 0.5 / gpus**0.6, converged=True)


def played(runs: int, reply: Reply, **options: object) -> list[tuple[object, ...]]:
    """What is asked for in so many runs."""
    one, asked = advisor(**options), []
    for run in range(runs):
        parameters = one.ask().parameters
        asked.append(tuple(parameters.values()))
        one.tell(parameters, reply(parameters, run))
    return asked


def test_the_first_answer_is_today_because_a_reference_is_needed() -> None:
    suggestion = advisor().ask()
    assert (suggestion.parameters, suggestion.decided_by, suggestion.confidence) == (NOW, "no evidence", None)
    assert suggestion.forecast.duration_seconds is None
    assert suggestion.codes == ("JPO-I601",)
    assert advisor().incumbent == NOW


def test_asking_changes_nothing() -> None:
    one = advisor(history=[(NOW, took(100))])
    assert one.ask() == one.ask() == advisor(history=[(NOW, took(100))]).ask()


def test_it_finds_what_is_faster_and_cheaper_and_says_so() -> None:
    one = advisor(preference="time")
    for run in range(12):
        parameters = one.ask().parameters
        one.tell(parameters, job(parameters, run))
    assert one.incumbent == {"batch_size": 128, "gpus": 4}
    suggestion = one.ask()
    assert suggestion.parameters == one.incumbent
    duration = suggestion.forecast.duration_seconds
    assert duration is not None
    assert duration.low < job(one.incumbent).duration_seconds < duration.high  # type: ignore[operator]
    assert suggestion.confidence is not None
    assert suggestion.confidence > 0.9
    assert suggestion.reasons


def test_the_same_seed_and_runs_give_the_same_answer_in_another_process() -> None:
    script = (
        "from jpo import Advisor, Outcome\n"
        "a = Advisor({'gpu': ['v100', 'a100'], 'batch_size': [32, 64, 128], 'gpus': [1, 2]},"
        " {'gpu': 'v100', 'batch_size': 32, 'gpus': 1}, seed=3, explore='on',"
        " history=[('other', {'batch_size': b, 'gpus': 1, 'gpu': 'a100'}, Outcome(duration_seconds=b))"
        " for b in (32, 64, 128, 256)])\n"
        "a.tell({}, Outcome(duration_seconds=100))\n"
        "answer = a.ask()\n"
        "print(answer, answer.forecast)"
    )
    answers = {
        subprocess.run(
            [sys.executable, "-c", script],
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONPATH": ".", "PYTHONHASHSEED": s},
        ).stdout
        for s in ("0", "1", "2")
    }
    assert len(answers) == 1
    assert "Interval" in answers.pop()


def test_runs_may_be_given_as_pairs_triples_or_records() -> None:
    runs = [({"batch_size": batch, "gpus": 1}, took(3200 / batch)) for batch in (32, 64, 32)]
    identity = Identity("d", "m", "f")
    records = [
        Run(str(9 - i), identity, parameters, RunStatus.SUCCEEDED, None, 1e9 + i, outcome, "csv")
        for i, (parameters, outcome) in enumerate(runs)
    ]
    told = advisor(workload=identity)
    for parameters, outcome in runs:
        told.tell(parameters, outcome)
    for history in (runs, [("d/m/f", *run) for run in runs], records, iter(runs)):
        assert advisor(workload="d/m/f", history=history).ask() == told.ask()


def test_what_tell_adds_is_newer_than_what_was_recorded() -> None:
    """Recorded times are unix seconds, runs given by tell have none: their order counts."""
    identity = Identity("d", "m", "f")
    old = [Run(str(i), identity, NOW, RunStatus.SUCCEEDED, None, 1.7e9 + i, took(100), "csv") for i in range(30)]
    one = advisor(workload=identity, history=old, explore="off")
    for _ in range(30):
        one.tell(NOW, took(300))
    duration = one.ask().forecast.duration_seconds
    assert duration is not None
    assert duration.mean > math.sqrt(100 * 300)


def test_a_record_may_leave_out_parameters_or_have_others() -> None:
    identity = Identity("d", "m", "f")
    run = Run("1", identity, {"batch_size": 64.0, "momentum": 0.9}, RunStatus.SUCCEEDED, None, 1.0, took(50), "csv")
    assert advisor(workload=identity, history=[run]).incumbent == {"batch_size": 64, "gpus": 1}


def test_runs_of_other_workloads_change_what_is_expected_but_are_no_reference() -> None:
    batches = [16, 32, 64, 128, 256]
    others = [
        (name, {"batch_size": b, "extra": 1}, took(1000 * b**power)) for name, power in (("a", 1), ("b", 1.1)) for b in batches
    ]
    space, now = {"batch_size": batches}, {"batch_size": 32}
    alone, taught = (Advisor(space, now, explore="on", history=history) for history in ((), others))
    assert taught.ask().decided_by == "no evidence"
    for one in (alone, taught):
        one.tell(now, took(100))
    assert alone.ask().parameters["batch_size"] > 32  # type: ignore[operator]
    assert taught.ask().parameters["batch_size"] <= 32  # type: ignore[operator]


@pytest.mark.parametrize("explore", ["off", "safe", "on"])
def test_explore_says_how_far_it_goes(explore: str) -> None:
    asked = played(6, job, explore=explore)
    assert (len(set(asked)) == 1) == (explore == "off")


def test_in_the_last_run_nothing_is_tried_that_costs_more_now() -> None:
    assert played(3, job)[2] not in played(3, job)[:2]
    last = advisor(history=[(NOW, took(100)), (NOW, took(100))], horizon_runs=3, policy=None).ask()
    assert last.parameters == NOW


def test_what_was_lost_is_held_against_the_budget() -> None:
    lost = [(NOW, took(100)), ({**NOW, "gpus": 2}, took(250, converged=True))]
    assert "JPO-W606" in advisor(history=lost).ask().codes
    assert "JPO-W606" not in advisor(history=lost, budget=9).ask().codes


def test_explore_off_uses_what_was_measured() -> None:
    history = [(NOW, took(100)), (NOW, took(101)), ({"batch_size": 64, "gpus": 1}, took(50)), ({"batch_size": 64}, took(51))]
    assert advisor(history=history, explore="off").ask().parameters == {"batch_size": 64, "gpus": 1}


@pytest.mark.parametrize(
    ("preference", "best"),
    [
        ("time", 4),
        ({"time": 1}, 4),
        (Preference(1, 0), 4),
        ("cost", 1),
        ({"cost": 0.9, "time": 0.1}, 1),
        ({"time": 0.95, "cost": 0.05}, 4),
    ],
)
def test_the_preference_decides_between_time_and_cost(preference: object, best: int) -> None:
    """Four GPUs take 100, 66 and 44 s: GPU hours grow, time falls."""
    history = [({"gpus": gpus}, took(100 / gpus**0.6)) for gpus in (1, 2, 4) for _ in range(3)]
    one = Advisor({"gpus": [1, 2, 4]}, {"gpus": 1}, preference, history=history, explore="off")  # type: ignore[arg-type]
    assert one.incumbent == one.ask().parameters == {"gpus": best}


@pytest.mark.parametrize(
    "preference",
    ["fast", None, 5, {"speed": 1}, {"time": "a"}, {"time": None}, {"time": 0.7, "cost": 0.7}, {}, {"time": math.nan}],
)
def test_a_preference_that_cannot_be_used_is_refused(preference: object) -> None:
    with pytest.raises((UsageError, ValueError)):
        advisor(preference=preference)


@pytest.mark.parametrize(
    "options",
    [
        *({"current": None}, {"current": {}}, {"current": {"batch_size": 32}}, {"current": {**NOW, "x": 1}}),
        *({"current": {"batch_size": math.nan, "gpus": 1}}, {"current": {"batch_size": "32", "gpus": 1}}),
        *({"explore": "OFF"}, {"explore": None}, {"seed": -1}, {"seed": None}, {"seed": 1.5}, {"workload": 5}, {"workload": " "}),
        *({"space": {}}, {"space": None}, {"history": None}, {"history": [5]}, {"history": [(NOW,)]}, {"history": [(NOW, 5)]}),
        *({"history": [(5, NOW, took(1))]}, {"history": [({"x": 1}, took(1))]}, {"history": [("w", None, took(1))]}),
    ],
)
def test_what_cannot_be_used_is_refused_with_a_code(options: dict[str, object]) -> None:
    with pytest.raises(UsageError) as caught:
        advisor(**options)
    assert caught.value.code == "JPO-E720"
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("parameters", "outcome"), [(None, took(1)), (NOW, None), (NOW, {"duration_seconds": 1}), ({"x": 1}, took(1))]
)
def test_telling_what_is_no_run_is_refused_and_changes_nothing(parameters: object, outcome: object) -> None:
    one = advisor(history=[(NOW, took(100))])
    before = one.ask()
    with pytest.raises(UsageError, match=r".+"):
        one.tell(parameters, outcome)  # type: ignore[arg-type]
    assert one.ask() == before


@pytest.mark.parametrize("seconds", [math.nan, math.inf, -1.0])
def test_a_duration_that_is_none_is_refused_by_the_outcome(seconds: float) -> None:
    with pytest.raises(ValueError, match="duration_seconds"):
        took(seconds)


@pytest.mark.parametrize(
    "outcome",
    [
        took(0),
        Outcome(),
        Outcome(cost_usd=5),
        Outcome(energy_joules=5),
        Outcome(val_loss=0.4),
        Outcome(converged=True),
        took(9, stopped=True),
    ],
)
def test_without_a_duration_of_a_run_that_ended_well_there_is_no_reference(outcome: Outcome) -> None:
    suggestion = advisor(history=[(NOW, outcome)]).ask()
    assert (suggestion.parameters, suggestion.decided_by) == (NOW, "no evidence")
    assert (suggestion.forecast.val_loss is None) == (outcome.val_loss is None)


@pytest.mark.parametrize("outcome", [took(10, converged=False), took(10, stopped=True), Outcome(stopped=True)])
@pytest.mark.parametrize("explore", ["safe", "on"])
def test_nothing_is_asked_for_a_third_time_when_it_fails(outcome: Outcome, explore: str) -> None:
    asked = played(15, lambda _parameters, _run: outcome, explore=explore)
    assert asked[:2] == [tuple(NOW.values())] * 2
    assert max(map(asked.count, asked)) == 2


def test_when_all_has_failed_twice_it_goes_on_with_today_and_with_explore_off_it_never_leaves_it() -> None:
    def fails(_parameters: Mapping[str, object], _run: int) -> Outcome:
        return took(10, converged=False)

    space = {"batch_size": [32, 64], "gpus": [1]}
    asked = played(6, fails, space=space)
    assert asked == [(32, 1), (32, 1), (64, 1), (64, 1), (32, 1), (32, 1)]
    assert set(played(5, fails, space=space, explore="off")) == {(32, 1)}


def test_what_worked_once_and_fails_now_is_left() -> None:
    asked = played(10, lambda parameters, run: took(100, converged=run == 0 or parameters["batch_size"] == 64))
    assert asked[-1][0] == 64


def test_the_reason_for_trying_another_one_is_named() -> None:
    suggestion = advisor(history=[(NOW, took(5, converged=False))] * 2).ask()
    assert suggestion.codes == ("JPO-W721",)
    assert suggestion.reasons == ("the last two runs with batch_size = 32, gpus = 1 did not end well; this is tried instead",)
    assert suggestion.parameters != NOW


def test_a_single_failure_of_what_works_changes_little() -> None:
    history = [(NOW, took(100)), (NOW, took(100)), (NOW, took(100, converged=False))]
    assert advisor(history=history, explore="off").ask().parameters == NOW


def test_what_failed_twice_and_works_again_is_kept() -> None:
    history = [(NOW, took(100, converged=run > 1)) for run in range(5)]
    slow = ({"batch_size": 64, "gpus": 1}, took(1000))
    suggestion = advisor(space={"batch_size": [32, 64], "gpus": [1]}, history=[*history, slow]).ask()
    assert (suggestion.parameters, "JPO-W721" in suggestion.codes) == (NOW, False)


def test_keeping_todays_configuration_costs_nothing_of_what_exploring_may() -> None:
    """Every other run of today fails: that was not spent on trying anything."""
    history = [(NOW, took(100, converged=run % 2 == 0)) for run in range(21)]
    assert "JPO-W606" not in advisor(history=history).ask().codes


def test_one_feasible_configuration_is_the_answer() -> None:
    assert set(played(4, job, space=[NOW])) == {(32, 1)}


def test_today_may_lie_outside_of_the_space_and_is_left_once_it_is_known() -> None:
    assert played(4, job, space=[{"batch_size": 64, "gpus": 2}]) == [(32, 1), (64, 2), (64, 2), (64, 2)]
    assert set(played(4, job, space=[{"batch_size": 64, "gpus": 2}], explore="off")) == {(32, 1)}
    one = advisor(current={"batch_size": 48, "gpus": 3})
    assert str(one.ask().parameters) == "{'batch_size': 48, 'gpus': 3}"  # whole numbers, as they were given
    one.tell({}, took(100))
    assert one.ask().parameters["batch_size"] in SPACE["batch_size"]


def test_a_run_outside_of_the_space_is_evidence_and_never_the_answer() -> None:
    one = advisor(history=[(NOW, took(100)), ({"batch_size": 4096, "gpus": 4}, took(1))], preference="time", explore="on")
    assert one.ask().parameters["batch_size"] in SPACE["batch_size"]
    assert one.incumbent == NOW
    assert one.ask().forecast != advisor(history=[(NOW, took(100))], preference="time", explore="on").ask().forecast


def test_words_booleans_and_unknown_parameters_may_be_tuned() -> None:
    space = {"optimizer": ["adam", "sgd"], "amp": [True, False], "momentum": Range(0.8, 0.99), "batch_size": [32, 64]}
    now = {"optimizer": "lion", "amp": False, "momentum": 0.9, "batch_size": 32}
    one = Advisor(space, now, explore="on")  # type: ignore[arg-type]
    assert one.ask().parameters == now  # in JPO's order, but the caller's own values
    for run in range(6):
        parameters = one.ask().parameters
        assert not run or (parameters["optimizer"] in ("adam", "sgd") and isinstance(parameters["amp"], bool))
        one.tell(parameters, took(50 if parameters["amp"] else 100))
    assert one.incumbent["amp"] is True
    one.tell({**now, "optimizer": "rmsprop"}, took(1))
    assert one.ask().parameters["optimizer"] in ("adam", "sgd")


@pytest.mark.parametrize(("gpus", "current"), [([0, 1, 2], 0), ([0], 0), ([1, 2], 0), ([0, 1], 1)])
def test_no_gpus_is_a_number_like_any_other(gpus: list[int], current: int) -> None:
    one = Advisor({"gpus": gpus, "cpus": [1, 2, 4]}, {"gpus": current, "cpus": 1}, explore="on")
    one.tell({}, took(100))
    suggestion = one.ask()
    assert suggestion.parameters["gpus"] in gpus
    assert suggestion.forecast.duration_seconds is not None


def test_contradicting_runs_give_a_wide_forecast() -> None:
    """10 s and 1000 s of one configuration: neither is believed, and what is between is not ruled out."""
    duration = advisor(history=[(NOW, took(10)), (NOW, took(1000))], explore="off").ask().forecast.duration_seconds
    assert duration is not None
    assert duration.low < 20 < 500 < duration.high
    assert duration.mean == pytest.approx(100, rel=0.1)


def test_a_large_space_is_searched_around_what_is_known() -> None:
    space = {name: Range(1, 1024, log=True, integer=True) for name in ("batch_size", "gpus", "cpus", "memory_gib")}
    one = Advisor(space, dict.fromkeys(space, 8))
    one.tell({}, took(100))
    parameters = one.ask().parameters
    assert all(value in space[name].steps() for name, value in parameters.items())


def test_ten_thousand_runs_are_answered_in_about_a_second() -> None:
    """Half of them were outside of the space, no two alike: only the newest of those count. (Generous: it takes .3 s.)"""
    history = [({"batch_size": 32 if i % 2 else 1000 + i, "gpus": 1 + i % 3}, took(100 + i % 7)) for i in range(10_000)]
    start = time.process_time()
    assert advisor(history=history).ask().forecast.duration_seconds is not None
    assert time.process_time() - start < 10


def test_ten_thousand_configurations_in_a_large_space_are_answered_in_about_a_second() -> None:
    space = {"a": Range(0, 1), "b": Range(0, 1), "c": Range(0, 1), "d": Range(0, 1)}
    history = [({"a": i / 10_000}, took(1 if i == 7 else 100)) for i in range(10_000)]
    one = Advisor(space, dict.fromkeys(space, 0.5), history=history, explore="on")
    start = time.process_time()
    assert one.ask().forecast.duration_seconds is not None
    assert time.process_time() - start < 10  # .4 s


@pytest.mark.parametrize(("usd", "best"), [(3.0, 1), (0.5, 2)])
def test_costs_that_were_measured_now_and_then_are_used_where_they_are_known(usd: float, best: int) -> None:
    """One run of each says what it cost, 1 USD and so many; the others do not."""
    first = [({"gpus": 1}, took(100, cost_usd=1.0)), ({"gpus": 1}, took(100))]
    second = [({"gpus": 2}, took(60, cost_usd=usd)), ({"gpus": 2}, took(60))]
    one = Advisor({"gpus": [1, 2]}, {"gpus": 1}, "cost", history=[*first, *second], explore="off")
    assert one.incumbent == {"gpus": best}


def test_energy_is_what_costs_where_nothing_has_another_price() -> None:
    """Equal times, half the energy with the larger batch; where money is given as well, money counts."""
    space, now = {"batch_size": [32, 64]}, {"batch_size": 32}
    history = [({"batch_size": b}, took(100, energy_joules=e)) for b, e in ((32, 2e4), (64, 1e4)) for _ in range(3)]
    assert Advisor(space, now, "cost", history=history, explore="off").incumbent == {"batch_size": 64}
    paid = [
        (parameters, Outcome(duration_seconds=100, energy_joules=outcome.energy_joules, cost_usd=usd))
        for (parameters, outcome), usd in zip(history, (1, 1, 1, 2, 2, 2), strict=True)
    ]
    assert Advisor(space, now, "cost", history=paid, explore="off").incumbent == {"batch_size": 32}


def test_by_a_preference_for_energy_what_takes_least_of_it_is_best_whatever_it_costs() -> None:
    """Two GPUs take a third less energy here and as much time; money says the opposite."""
    space, now = {"gpus": [1, 2]}, {"gpus": 1}
    each = [(1, 3e4, 1.0), (2, 2e4, 2.0)] * 3
    history = [({"gpus": gpus}, took(100, energy_joules=joules, cost_usd=usd)) for gpus, joules, usd in each]
    best = [Advisor(space, now, wish, history=history, explore="off").incumbent for wish in ({"energy": 1.0}, "cost")]
    assert best == [{"gpus": 2}, {"gpus": 1}]


numbers = st.none() | st.just(0.0) | st.floats(1e-30, 1e30)
outcomes = st.builds(
    Outcome,
    duration_seconds=numbers,
    cost_usd=numbers,
    energy_joules=numbers,
    val_loss=numbers | st.just(-1.0),
    gpu_utilisation=st.none() | st.just(0.0) | st.floats(1e-9, 1),
    converged=st.none() | st.booleans(),
    stopped=st.none() | st.booleans(),
)
values = st.sampled_from([32, 64, 128]) | st.floats(-1e308, 1e308)


@given(
    history=st.lists(st.tuples(st.fixed_dictionaries({}, optional={"batch_size": values, "gpus": values}), outcomes), max_size=8),
    explore=st.sampled_from(["off", "safe", "on"]),
    preference=st.sampled_from(["time", "cost", "balanced", "efficiency"]),
)
@settings(max_examples=60)
def test_the_answer_is_feasible_and_finite_for_any_observations(
    history: list[tuple[dict[str, object], Outcome]], **options: str
) -> None:
    one = advisor(history=history, **options)
    suggestion = one.ask()
    for parameters in (suggestion.parameters, one.incumbent):
        assert all(value in SPACE[name] for name, value in parameters.items())
    assert suggestion.confidence is None or 0 <= suggestion.confidence <= 1
    for interval in suggestion.forecast.known.values():
        assert 0 <= interval.low <= interval.mean <= interval.high < math.inf
    assert suggestion.reasons
    assert one.ask() == suggestion


def test_what_the_same_job_showed_on_other_hardware_is_tried_after_one_own_run() -> None:
    job, space = {"dataset": "d", "model": "m", "framework": "f"}, {"batch_size": [32, 64, 128, 256, 512]}
    there = {32: 400.0, 64: 220.0, 128: 120.0, 256: 220.0, 512: 300.0}
    history = [({**job, "hardware": "a100"}, {"batch_size": b}, Outcome(duration_seconds=s)) for b, s in there.items()]
    asked = []
    for known in ([], history):
        advisor = Advisor(space, {"batch_size": 32}, workload={**job, "hardware": "t4"}, history=known)
        assert advisor.ask().parameters == {"batch_size": 32}, "an own reference comes first"
        advisor.tell({"batch_size": 32}, Outcome(duration_seconds=900.0))
        asked.append(advisor.ask())
    assert asked[1].parameters == {"batch_size": 128}
    assert (asked[1].confidence or 0) > 0.7
    assert asked[0].parameters != asked[1].parameters


def judged(batch: int, worse: float, **options: object) -> Advisor:
    """Three batch sizes, the largest the fastest and by this much worse."""
    one = Advisor({"batch_size": [32, 64, 128]}, {"batch_size": 32}, **options)  # type: ignore[arg-type]
    for repetition in range(3):
        for size, seconds in ((32, 100.0), (64, 70.0), (128, 50.0)):
            value = 0.93 + 0.001 * repetition - (worse if size == batch else 0.0)
            one.tell({"batch_size": size}, Outcome(duration_seconds=seconds, val_accuracy=value, metrics={"f1": value - 0.1}))
    return one


def test_a_model_is_judged_by_its_accuracy_where_no_loss_is_told() -> None:
    assert judged(128, 0.0).ask().parameters == {"batch_size": 128}
    worse = judged(128, 0.1).ask()
    assert worse.parameters != {"batch_size": 128}
    assert worse.forecast.val_loss is None
    assert worse.forecast.val_accuracy is not None
    assert worse.forecast.val_accuracy.mean == pytest.approx(0.931, abs=0.003)


def test_a_model_is_judged_by_a_metric_of_ones_own_where_that_is_asked_for() -> None:
    answer = judged(128, 0.1, metric={"name": "f1", "direction": "max"}, quality="f1").ask()
    assert answer.parameters != {"batch_size": 128}
    assert answer.forecast.metrics["f1"].mean == pytest.approx(0.831, abs=0.003)


@pytest.mark.parametrize(
    "wrong",
    [
        {"quality": "f1"},
        {"metric": {"name": "f1"}},
        {"metric": {"name": "val_loss", "direction": "max"}},
        {"metric": {"name": "wer", "direction": "min", "best": 0.0}},
    ],
)
def test_a_metric_needs_a_name_of_its_own_and_a_direction(wrong: dict[str, object]) -> None:
    with pytest.raises(UsageError) as caught:
        advisor(**wrong)
    assert caught.value.code == "JPO-E720"
