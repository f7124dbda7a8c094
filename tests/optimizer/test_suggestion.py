"""Everything about one answer in one record."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from constraints import Limits
from jpo.agent.policy import load_policy
from jpo.optimizer.suggestion import (
    Proposal,
    decider,
    elsewhere,
    evidence_runs,
    gpu_memory_gib_now,
    number_in,
    suggestion_of,
    trial_number,
    why,
)
from jpo.records import Edit, Evidence, Guarded, Known, Outcome, Parameter, Run, Workload
from tests.optimizer.test_advise import FASTER, JOB, NOW, a_run, advised, request

FILE = Workload(JOB, tuple(Parameter(name, f"s.{name}", value, f"{value:g}", 1) for name, value in NOW.items()), Path("c"), b"")


def test_what_goes_on_record_is_what_the_job_will_read_with_evidence_reasons_and_codes() -> None:
    """The text may be rounded: 64 is suggested, 63 would be executed."""
    asked = request(targets={"time_max": 1000.0})
    advice = advised(asked, FASTER)
    edits = (Edit("s.batch_size", 1, "16", "63"),)
    proposal = Proposal(FILE, Limits(), edits, b"", {**NOW, "batch_size": 63.0}, Guarded(True))
    known = Known(tuple(FASTER), evidence=Evidence(4, codes=("JPO-I501",)))
    suggestion = suggestion_of(advice, asked, proposal, known, None, suggestion_id="s1", now=7.0)
    assert (suggestion.status, suggestion.values.suggested["batch_size"], suggestion.created_at) == ("changed", 63.0, 7.0)
    (change,) = suggestion.changes
    assert (change.parameter, change.old, change.new) == ("batch_size", 16.0, 63.0)
    assert change.reason == "expected alone: time -67%; not tried yet at 63", "the effect, and on what ground"
    assert suggestion.values.texts == {name: f"{value:g}" for name, value in NOW.items()}
    assert (suggestion.decision.decided_by, suggestion.decision.policy) == ("belief", "belief rule")
    assert (suggestion.evidence.run_ids, suggestion.codes[-1]) == (("r1", "r2"), "JPO-I501")
    assert [(check.name, check.verdict) for check in suggestion.prospects.sla] == [("time_max", "ok")]
    kept = suggestion_of(advice, asked, replace(proposal, edits=()), known, None, suggestion_id="s2", now=7.0)
    assert (kept.status, kept.changes) == ("kept", ())


def test_the_record_names_the_weights_that_decided_or_the_rule() -> None:
    policy = load_policy()
    assert decider(policy, "sac") == policy.digest
    assert decider(policy, "belief") == "belief rule"
    assert decider(None, "sac") is None
    assert decider(policy, "user") is None


def test_the_ground_of_a_value_are_the_runs_at_it() -> None:
    runs = [*FASTER, a_run(5, 39.0, batch_size=64.0, converged=False)]
    assert why("batch_size", 64.0, runs) == "3 runs at 64, 1 did not end well"
    assert why("batch_size", 128.0, runs) == "not tried yet at 128"
    assert why("cpus", 2.0, runs[:1]) == "1 run at 2"


def test_the_newest_three_runs_of_each_configuration_are_the_evidence_oldest_first() -> None:
    runs = [a_run(number, 100.0, batch_size=batch) for number, batch in enumerate((16, 64, 16, 16, 32, 16))]
    assert evidence_runs(runs, NOW, {**NOW, "batch_size": 64.0}) == ("r1", "r2", "r3", "r5")


def test_gpu_memory_is_that_of_runs_with_todays_batch_and_gpus_whatever_else_they_had() -> None:
    def needed(gib: float | None, **values: float) -> Run:
        return replace(a_run(1, 9.0, **values), outcome=Outcome(gpu_memory_gib=gib))

    runs = [needed(3.0, cpus=8.0), needed(5.0), needed(None), needed(40.0, batch_size=64.0)]
    assert gpu_memory_gib_now(NOW, runs) == 5.0
    assert gpu_memory_gib_now(NOW, runs[3:]) is None


def test_a_new_text_is_read_in_the_parameters_unit() -> None:
    assert number_in(Parameter("memory_gib", "resources.memory_mib", 2.0, "2048", 1), "4096") == 4.0
    assert number_in(Parameter("batch_size", "s.batch_size", 16.0, "16", 1), "64") == 64.0


def test_a_value_that_was_not_run_here_is_explained_by_the_hardware_that_ran_it_most() -> None:
    siblings = [replace(run, identity=replace(run.identity, hardware="a100")) for run in FASTER]
    siblings.append(replace(siblings[-1], identity=replace(JOB, hardware="t4")))
    known = Known((), siblings=tuple(siblings))
    assert elsewhere("batch_size", 64.0, known) == "; on a100 2 runs at 64"
    assert elsewhere("batch_size", 128.0, known) == ""
    assert elsewhere("batch_size", 64.0, replace(known, runs=tuple(FASTER))) == "", "own runs say it"


def test_in_a_search_nobody_counts_trials() -> None:
    advice = advised(request(goal="search"), FASTER)
    counted = replace(advice, problem=replace(advice.problem, search=None)) if advice.problem else advice
    assert (trial_number(advice), trial_number(counted) is not None) == (None, advice.decision.kind == "trial")
