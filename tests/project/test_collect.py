"""What is collected before a decision, as far as no command's own tests show it."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest
from made import DIGITS, a_run, a_suggestion

from jpo.cost import Prices
from jpo.errors import TelemetryError
from jpo.history import open_store
from jpo.project.collect import collect, cut_short, newest_of_all, on_other_hardware, siblings_of, untried, without_energy
from jpo.project.project import open_project
from jpo.project.sources import LOGS
from jpo.records import Finished, Note, Outcome, Preference, Run, RunStatus, codes_of

NOW = 1_700_000_000.0
LOG = """\
# run_id=r{number}
# dataset=digits
# model=cnn
# framework=pytorch
# start=1000.0
time,epoch,samples,train_loss,val_loss
1010.0,1,1437,0.9,{loss}
# end=1031.0
# status=succeeded
"""


def test_a_suggestion_dated_by_a_fast_clock_is_not_waited_for() -> None:
    with open_store("sqlite://") as store:
        store.append(a_suggestion("s1", NOW - 60), config="config.ini", source_digest="ab")
        assert untried(store, DIGITS, (), now=NOW) is not None
        store.append(a_suggestion("s2", NOW + 86400), config="config.ini", source_digest="ab")
        assert untried(store, DIGITS, (), now=NOW) is None


def test_a_run_called_as_its_suggestion_has_tried_it_though_its_nodes_clock_is_behind() -> None:
    with open_store("sqlite://") as store:
        store.append(a_suggestion("job-1", NOW - 60), config="config.ini", source_digest="ab")
        early = Run("job-1", DIGITS, {}, RunStatus.STOPPED, NOW - 70, NOW - 65, Outcome(duration_seconds=5.0), "csv")
        assert untried(store, DIGITS, (early,), now=NOW) is None
        assert untried(store, DIGITS, (replace(early, run_id="other"),), now=NOW) is not None


def test_a_log_that_cannot_be_read_is_an_error_only_if_strict(repository, tmp_path) -> None:
    path, settings = repository('[csv]\nlogs = ["runs/*.csv"]\n')
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "torn.csv").write_text("no log\n")
    with open_project(path, settings, now=NOW) as job:
        known = collect(job)
        assert (known.runs, [skipped.run_id for skipped in known.evidence.runs_skipped]) == (
            (),
            ["torn.csv"],
        )
        with pytest.raises(TelemetryError, match="cannot be read"):
            collect(job, strict=True)


def test_an_answer_that_was_cut_short_is_a_note_or_if_strict_an_error() -> None:
    assert cut_short("prometheus", "cut short", strict=False) == Note("JPO-W117", "Prometheus was cut short", "prometheus")
    with pytest.raises(TelemetryError, match="raise --timeout"):
        cut_short("prometheus", "cut short", strict=True)


def test_costs_without_energy_are_noted_where_a_kwh_has_a_price() -> None:
    priced = Prices(usd_per_kwh=0.3)
    assert without_energy([a_run()], Prices(), Preference()) == ()
    assert codes_of(without_energy([a_run()], priced, Preference())) == ("JPO-W802",)


def test_energy_that_is_weighed_and_was_never_measured_is_noted() -> None:
    weighed, measured = Preference(time=0.0, cost=0.0, energy=1.0), replace(a_run(), outcome=Outcome(energy_joules=5.0))
    assert codes_of(without_energy([a_run()], Prices(), weighed)) == ("JPO-W802",)
    assert without_energy([a_run(), measured], Prices(), weighed) == ()


def test_the_same_job_on_other_hardware_is_known_and_counted_apart() -> None:
    here, there = replace(DIGITS, hardware="t4"), replace(DIGITS, hardware="a100")
    runs = (a_run("r1", identity=here), a_run("r2", identity=there), a_run("r3", identity=there), a_run("r1"))
    with open_store("sqlite://") as store:
        store.record(Finished(runs), now=900.0)
        siblings = siblings_of(store, here, runs[:1])
    assert siblings == runs[1:3], "r1 is this workload's own"
    assert on_other_hardware(siblings) == (Note("JPO-I119", "The same job on other hardware counts, too: 2 runs on a100"),)
    assert on_other_hardware([]) == ()


def test_hundreds_of_logs_are_read_once(repository, tmp_path) -> None:
    """What is remembered of them is saved with their runs, not by a dry run, and their later state counts again."""
    path, settings = repository('[csv]\nlogs = ["many/*.csv"]\n')
    logs = [tmp_path / "many" / f"{number:03}.csv" for number in range(60)]
    logs[0].parent.mkdir()
    for number, log in enumerate(logs):
        log.write_text(LOG.format(number=number, loss=0.5 + number / 1000))
        os.utime(log, (1000.0, 1000.0))
    looks = []
    for read_only in (True, False, True):
        with open_project(path, settings, now=NOW, read_only=read_only) as job:
            looks.append((len(collect(job).fresh), job.store.load_agent(LOGS) is not None))
    assert looks == [(60, False), (60, True), (0, True)]
    logs[0].write_text("torn")
    with open_project(path, settings, now=NOW, read_only=True) as job:
        known = collect(job)
    assert (len(known.runs), [skipped.run_id for skipped in known.evidence.runs_skipped]) == (60, ["000.csv"])


def test_the_newest_runs_of_all_are_read_once_until_one_is_recorded() -> None:
    with open_store("sqlite://") as store:
        store.record(Finished((a_run("one"),)), now=NOW)
        first = newest_of_all(store)
        assert newest_of_all(store) is first
        store.record(Finished((a_run("two", ended_at=first[0].ended_at + 9),)), now=NOW)
        assert [run.run_id for run in newest_of_all(store)] == ["one", "two"]
