from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import pytest

from jpo.agent.policy import load_policy
from jpo.commands.learn import pretrain
from jpo.learning import pretraining
from jpo.learning.practice import silently

pytest.importorskip("torch", reason="torch is not installed; it is needed for learning only")


@pytest.fixture(autouse=True)
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("STAGES", 2), ("UPDATES_PER_JOB", 1), ("REPLAY_TRANSITIONS", 64), ("TEST_JOBS", 18)):
        monkeypatch.setattr(pretraining, name, value)


def stopped_at_the_third(numbers: Sequence[int], _what: str) -> Iterator[int]:
    """Ctrl-C in the middle of practice."""
    for number in numbers:
        if number == 3:
            raise KeyboardInterrupt
        yield number


def test_an_interrupted_training_goes_on_where_it_stopped_and_leaves_one_file(tmp_path: Path) -> None:
    path = tmp_path / "p.safetensors"
    with pytest.raises(KeyboardInterrupt):
        pretrain(path, jobs=2, seed=0, track=stopped_at_the_third)
    assert [file.name for file in tmp_path.iterdir()] == ["p.safetensors.part"]
    seen: list[int] = []

    def noted(numbers: Sequence[int], what: str) -> Iterable[int]:
        seen.extend(numbers if what == "practice" else ())
        return silently(numbers, what)

    told = pretrain(path, jobs=2, seed=0, track=noted)
    assert seen == [3, 4, 5]
    assert told.startswith("going on from ")
    assert "release test, scenario horizon: " in told
    assert [file.name for file in tmp_path.iterdir()] == ["p.safetensors"]
    assert load_policy(path).card["seeds"] == [0, 1, 2]
