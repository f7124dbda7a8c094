"""Runs that go on, in words."""

from __future__ import annotations

from dataclasses import replace

from jpo.records import KUBERNETES, Identity, Running, Word
from jpo.wording.going_on import sentence

VALUES = {"batch_size": 64.0, "gpus": 2.0}
NOW = Running("night-7", Identity("d", "m", "f"), VALUES, 1.7e9, 1.7e9 + 4800, "prometheus", samples_per_second=1240.0)


def test_a_run_is_told_in_a_sentence():
    told = sentence(replace(NOW, share_done=0.45, ends_at=1.7e9 + 10667, gpu_utilisation=0.8))
    assert told == (
        "night-7 since 2023-11-14 22:13 UTC (1h 20m): batch 64, gpus 2; 45% done, ends about 2023-11-15 01:11 UTC; "
        "1240 samples/s; GPUs 80% busy"
    )


def test_what_is_not_known_is_said():
    labelled = replace(NOW, source=KUBERNETES, parameters={"batch_size": 64.0}, assumed=("batch_size",), samples_per_second=None)
    assert sentence(labelled).endswith("by the suggestion in force batch 64; its pod does not report how far it is")
    assert "has reported nothing for minutes" in sentence(replace(NOW, silent=True))
    assert "does not report when it started" in sentence(replace(NOW, started_at=None))
    assert "longer than runs like it did" in sentence(replace(NOW, ends_at=1.7e9 + 10))
    own = {"batch_size": 64.0, "dropout": 0.1, "optimizer": Word("adam")}
    assert "batch 64, dropout 0.1, optimizer adam;" in sentence(replace(NOW, parameters=own))
    assert "values that it does not report" in sentence(replace(NOW, parameters={}))
