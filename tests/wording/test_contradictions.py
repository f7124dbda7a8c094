from __future__ import annotations

from jpo.records import Contradictions, Reach, Stray, codes_of
from jpo.wording.contradictions import in_words, sentences

STRAY = Stray("night-7", "s6", "memory_gib", 40.0, 32.0)


def test_one_contradiction_names_run_parameter_both_values_and_what_it_may_be() -> None:
    (note,) = sentences(Contradictions((STRAY,), (STRAY,)), {"memory_gib": 40.0})
    assert note.code == "JPO-W160"
    assert "run night-7 reports memory_gib 32 GiB, and suggestion s6 gave it 40 GiB" in note.text
    assert "the suggestion as not carried out" in note.text
    assert "by hand" in note.text


def test_a_limit_is_a_warning_until_config_ini_keeps_to_it() -> None:
    found = Contradictions((STRAY,) * 5, (STRAY,) * 5, (Reach("memory_gib", (STRAY,) * 5, most=32.0),))
    (note,) = sentences(found, {"memory_gib": 40.0})
    assert note.code == "JPO-W161"
    assert "5 runs (the last: night-7, night-7, night-7)" in note.text
    assert note.text.endswith("`jpo suggest --set memory_gib=40`")
    assert codes_of(sentences(found, {"memory_gib": 32.0})) == ("JPO-I162",)
    assert codes_of(sentences(found, None)) == ("JPO-W161",)


def test_what_the_job_makes_of_a_value_without_a_limit_is_left_to_people() -> None:
    stray = Stray("r", "s", "learning_rate", 0.01, 0.04)
    (note,) = sentences(Contradictions((stray,), (stray,), (Reach("learning_rate", (stray,)),)), None)
    assert note.code == "JPO-W161"
    assert "made 0.04 of 0.01: JPO leaves it as it is" in note.text


def test_gigabytes_say_what_to_write() -> None:
    assert in_words(Stray("r", "s", "memory_gib", 40, 37.2529)).endswith("40 GB are 37.3 GiB: let the job ask for Gi, not G")
