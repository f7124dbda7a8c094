from __future__ import annotations

import copy
import json
from dataclasses import asdict

import numpy as np

from jpo.history.canonical import canonical
from jpo.records import Candidates, Forecast, Interval, Word, plain, plain_values, same, value_of
from jpo.records.words import as_document
from jpo.wording.numbers import plain as written

ADAM, SGD = Word("adam"), Word("sgd")


def test_a_word_is_the_same_number_everywhere_and_people_see_the_word() -> None:
    assert ADAM == Word("adam") != SGD
    assert (f"{ADAM}", f"{ADAM:g}", f"{ADAM:.4g}", f"{ADAM:>6}", repr(ADAM), written(ADAM)) == (
        *("adam", "adam", "adam", "  adam", "adam", "adam"),
    )
    assert not same({"optimizer": ADAM}, {"optimizer": SGD})


def test_copies_and_arrays_keep_the_number_and_copies_the_word() -> None:
    for made in (copy.deepcopy(ADAM), copy.copy(SGD)):
        assert (made, made.word) == (Word(made.word), str(made))
    assert np.array([ADAM])[0] == ADAM


def test_documents_have_the_word_and_give_it_back() -> None:
    assert canonical({"now": ADAM, "all": [SGD, 0.5]}) == '{"all":["sgd",0.5],"now":"adam"}'
    assert plain_values({"optimizer": ADAM, "dropout": 0.1}) == {"optimizer": "adam", "dropout": 0.1}
    back = value_of(json.loads(json.dumps(plain(ADAM))))
    assert isinstance(back, Word)
    assert (back, back.word) == (ADAM, "adam")


def test_candidates_give_back_words() -> None:
    values = np.array([[1.0, ADAM], [2.0, SGD]])
    candidates = Candidates(
        ("gpus", "optimizer"), values, 0, np.ones(2, bool), np.zeros(2), words={"optimizer": {float(ADAM): ADAM, float(SGD): SGD}}
    )
    assert str(candidates.parameters(1)["optimizer"]) == "sgd"


def test_a_record_is_a_document_of_its_fields() -> None:
    interval = Interval(1.0, 0.5, 2.0)
    forecast = Forecast(duration_seconds=interval, metrics={"f1": interval})
    assert as_document(forecast) == asdict(forecast)
    assert as_document((forecast, "a", None)) == (asdict(forecast), "a", None)
