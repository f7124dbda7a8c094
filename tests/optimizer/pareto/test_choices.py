from __future__ import annotations

from made import a_run

from jpo.cost import Prices
from jpo.optimizer.pareto.choices import choices_of
from jpo.records import Known, Outcome, Preference
from tests.asked import a_request, changed

TODAY = {"batch_size": 16.0, "cpus": 2.0}
KNOWN = Known(
    tuple(
        a_run(
            f"r{number}",
            200.0 + number,
            parameters={**TODAY, "batch_size": size},
            outcome=Outcome(duration_seconds=seconds, val_loss=0.1),
        )
        for number, (size, seconds) in enumerate([(16.0, 100.0), (64.0, 40.0), (16.0, 98.0), (64.0, 41.0)])
    )
)
REQUEST = a_request(TODAY, ["batch_size"], lambda _today, _proposed: True, Preference(), Prices(usd_per_cpu_hour=0.5))
PREFERENCES = {"time": Preference(1.0, 0.0), "efficiency": Preference(0.0, 0.0, 1.0)}


def test_each_preference_of_which_something_can_be_said_has_its_values() -> None:
    choices = choices_of(REQUEST, KNOWN, None, PREFERENCES, seed=0)
    assert list(choices.preferred_parameters) == ["time"], "no run has measured utilisation"
    assert choices.suggested_parameters is not None
    assert choices.because


def test_marks_say_what_is_to_be_found_in_a_row() -> None:
    choices = choices_of(REQUEST, KNOWN, None, PREFERENCES, seed=0)
    marks = [mark for row in choices.marks.values() for mark in row]
    assert sorted(marks) == ["suggested", "today"]
    assert choices.marks[choices.surrogate.candidates.current][0] == "today"


def test_where_nothing_is_admissible_the_reason_is_kept() -> None:
    request = changed(REQUEST, admissible=lambda _today, _proposed: False)
    choices = choices_of(request, KNOWN, None, PREFERENCES, seed=0)
    assert (choices.suggested, choices.suggested_parameters, choices.preferred) == (None, None, {})
    assert choices.because
