from __future__ import annotations

from dataclasses import replace

import pytest
from made import DIGITS, a_run, a_suggestion, altered

from jpo.history import open_store
from jpo.history.following.contradictions import contradicted
from jpo.history.following.followers import followed_up
from jpo.records import Change, Contradictions, Finished, Run, Suggestion
from jpo.wording.contradictions import sentences

RATE = {"learning_rate": 0.1}


def changes_of(before: dict[str, float], after: dict[str, float]) -> tuple[Change, ...]:
    moved = [name for name in after if after[name] != before[name]]
    return tuple(Change(name, f"t.{name}", before[name], after[name], "", "", "because", None) for name in moved)


def night(number: int, before: dict[str, float], given: dict[str, float], ran: dict[str, float]) -> tuple[Suggestion, Run]:
    """A suggestion and the run after it, one of each in a hundred seconds."""
    at = 100.0 * number
    made = a_suggestion(f"s{number}", at, current=before, suggested=given, changes=changes_of(before, given))
    return made, a_run(f"r{number}", at + 60, started_at=at + 10, parameters=ran)


def nights_of(name: str, *values: tuple[float, float, float]) -> tuple[list[Suggestion], list[Run]]:
    """Nights of (value in the file before, value given, value reported) of one parameter."""
    nights = [night(n, {name: old}, {name: given}, {name: ran}) for n, (old, given, ran) in enumerate(values, 1)]
    return [made for made, _ in nights], [run for _, run in nights]


def test_a_run_with_another_value_than_the_file_gave_it_is_a_contradiction() -> None:
    found = contradicted(*nights_of("memory_gib", (32, 40, 32)), {"memory_gib": 40.0})
    (stray,) = found.open
    assert (stray.run_id, stray.suggestion_id, stray.given, stray.reported) == ("r1", "s1", 40, 32)
    assert found.reaches == ()


@pytest.mark.parametrize(
    ("name", "nights", "now"),
    [
        ("memory_gib", [(32, 40, 39.9)], 40),  # rounded
        ("memory_gib", [(32, 40, 39), (40, 48, 47)], 48),  # a sidecar's share
        ("cpus", [(2, 4, 3.9), (4, 4, 3.9)], 4),
        ("learning_rate", [(0.1, 1 / 3, 0.333)], 1 / 3),
        ("memory_gib", [(32, 40, 32)], 32),  # not merged: file and run have the value from before
        ("memory_gib", [(32, 40, 36)], 36),  # somebody has committed another
        ("memory_gib", [(32, 40, 32), (32, 40, 32), (32, 40, 32)], 32),
    ],
)
def test_what_has_another_reason_is_none(name: str, nights: list[tuple[float, float, float]], now: float) -> None:
    found = contradicted(*nights_of(name, *nights), {name: now})
    assert (found.strays, found.reaches) == ((), ())


def test_a_run_by_hand_next_to_the_one_that_followed_is_no_contradiction() -> None:
    suggestions, runs = nights_of("batch_size", (32, 64, 64))
    by_hand = a_run("mine", 190.0, started_at=180.0, parameters={"batch_size": 16.0})
    assert contradicted(suggestions, [*runs, by_hand], {"batch_size": 64.0}).strays == ()


def test_a_checkout_of_each_nights_own_shows_it_by_what_was_taken_over() -> None:
    """The file has its old values again; that the run has the new batch shows that it was given the new memory as well."""
    before, given = {"batch_size": 32.0, "memory_gib": 32.0}, {"batch_size": 64.0, "memory_gib": 40.0}
    made, run = night(1, before, given, {"batch_size": 64.0, "memory_gib": 32.0})
    (stray,) = contradicted([made], [run], before).open
    assert stray.parameter == "memory_gib"


def test_a_run_whose_clock_is_behind_belongs_to_the_suggestion_whose_values_it_took_over() -> None:
    suggestions, runs = nights_of("batch_size", (16, 32, 32), (32, 64, 64), (64, 128, 128))
    behind = [replace(run, started_at=run.started_at - 35) for run in runs if run.started_at]
    assert contradicted(suggestions, behind, {"batch_size": 128.0}) == Contradictions()


def test_a_job_that_follows_one_suggestion_late_is_told_and_nothing_is_held() -> None:
    """A queue, or an image with config.ini in it: each run has the values from before the suggestion."""
    found = contradicted(*nights_of("batch_size", (16, 32, 16), (32, 64, 32), (64, 128, 64)), {"batch_size": 128.0})
    assert (len(found.strays), found.reaches) == (3, ())
    assert sentences(found, None)[0].text.endswith("If it began with config.ini as it was before, nothing is amiss")


def test_parameters_that_a_run_does_not_report_or_that_were_assumed_contradict_nothing() -> None:
    made, run = night(1, {"gpus": 1.0, **RATE}, {"gpus": 4.0, **RATE}, RATE)
    assumed = a_run("r2", 190.0, started_at=170.0, parameters={"gpus": 2.0}, assumed=("gpus",))
    assert contradicted([made], [run, assumed], {"gpus": 4.0}).strays == ()


def test_what_came_of_two_different_values_is_the_most_that_the_job_takes() -> None:
    found = contradicted(*nights_of("batch_size", (64, 256, 128), (256, 512, 128)), {"batch_size": 512.0})
    (reach,) = found.reaches
    assert (reach.most, reach.least, [stray.run_id for stray in reach.strays]) == (128, None, ["r1", "r2"])


def test_what_lies_within_and_was_taken_shows_that_the_job_does_not_scale_what_it_is_given() -> None:
    found = contradicted(*nights_of("gpus", (1, 1, 1), (1, 4, 2), (4, 4, 2)), {"gpus": 4.0})
    assert [reach.most for reach in found.reaches] == [2]
    found = contradicted(*nights_of("gpus", (8, 8, 8), (8, 1, 2), (1, 1, 2)), {"gpus": 1.0})
    assert [reach.least for reach in found.reaches] == [2]


@pytest.mark.parametrize(
    ("name", "nights"),
    [
        ("batch_size", [(256, 256, 128), (256, 256, 128)]),  # a limit, or a script that divides
        ("batch_size", [(256, 256, 128), (256, 128, 64)]),
        ("learning_rate", [(0.01, 0.01, 0.01), (0.01, 0.02, 0.08), (0.02, 0.02, 0.08)]),  # no quota limits a rate
        ("batch_size", [(64, 256, 100), (256, 256, 90), (256, 256, 140)]),  # found anew each time
    ],
)
def test_a_value_of_which_the_job_makes_something_else_stays(name: str, nights: list[tuple[float, float, float]]) -> None:
    (reach,) = contradicted(*nights_of(name, *nights), {name: nights[-1][1]}).reaches
    assert (reach.value, reach.parameter) == (None, name)


def test_a_run_beyond_the_limit_lifts_it_and_one_within_does_not() -> None:
    capped = [(32, 32, 32), (32, 256, 128), (256, 256, 128), (256, 128, 128)]
    assert contradicted(*nights_of("batch_size", *capped), {"batch_size": 128.0}).reaches[0].most == 128
    lifted = contradicted(*nights_of("batch_size", *capped, (128, 256, 256)), {"batch_size": 256.0})
    assert (lifted.reaches, lifted.open, len(lifted.strays)) == ((), (), 2)


def test_a_value_that_the_file_keeps_though_runs_have_another_is_not_taken_for_given() -> None:
    """The suggestions then name what runs have: that runs have it says nothing about a limit."""
    suggestions, runs = nights_of("batch_size", *[(256, 256, 128)] * 2, *[(128, 128, 128)] * 2, (128, 128, 256))
    marked = [altered(made, as_run=("batch_size",)) for made in suggestions[2:]]
    held = contradicted([*suggestions[:2], *marked[:2]], runs[:4], {"batch_size": 256.0})
    assert [(reach.value, reach.really(256), len(reach.strays)) for reach in held.reaches] == [(None, 128, 2)]
    assert contradicted([*suggestions[:2], *marked], runs, {"batch_size": 256.0}).reaches == ()


def test_one_contradiction_is_told_until_the_next_run_has_its_values() -> None:
    nights = [(32, 256, 128), (256, 64, 64)]
    assert contradicted(*nights_of("batch_size", *nights), {"batch_size": 64.0}).open == ()


def test_gigabytes_for_gibibytes_are_told_and_are_no_limit() -> None:
    nights = [(32, 40, 37.252903), (40, 40, 37.252903), (40, 48, 44.703484)]
    found = contradicted(*nights_of("memory_gib", *nights), {"memory_gib": 48.0})
    assert (found.reaches, [stray.in_gb for stray in found.open]) == ((), [True])


def test_writing_down_what_runs_have_anyway_is_no_step_of_the_agents() -> None:
    before, after = {"batch_size": 256.0, **RATE}, {"batch_size": 128.0, "learning_rate": 0.2}
    batch, rate = changes_of(before, after)
    truth = Change(batch.parameter, batch.key, 256, 128, "256", "128", "because", None)
    run = a_run("r1", 300.0, started_at=200.0, parameters=after)
    for changes, replaced in [((truth, rate), [{"batch_size": 128.0, **RATE}]), ((truth,), [])]:
        with open_store("sqlite://") as store:
            made = a_suggestion("s1", 100.0, current=before, suggested=after, changes=changes, as_run=("batch_size",))
            store.append(made, config="config.ini", source_digest="ab")
            store.record(Finished((run,)), now=900.0)
            assert [was for _, was in followed_up(store, store.recorded_runs(DIGITS))] == replaced
