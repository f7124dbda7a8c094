"""JPO, the Job Parameter Optimizer: the next parameters of a recurring training job, from what its earlier runs cost.

The map of the package (imports go downwards only; `make check` holds it to that):

    __main__, cli    the command line: names, options, help; planning, hindsight, experiments and upkeep go on with it
    arguments.py     words -> values; options.py: what commands share; console.py: what reaches people and files
    commands/        one file per command; `suggest.py` is the whole story on one screen
    learning.py      the agent takes in the history, and is put to the release test; pretraining.py: a policy from nothing
    proposal.py      advice -> new texts for config.ini, the guard's word, a suggestion with reasons
    experience.py    the history as transitions
    advisor.py       the public ask/tell API: what a library user holds in hand; feasible.py: a space as candidates
    checkup/         everything that JPO needs around it, looked at thing by thing
    account/         what else could have been suggested, and what would change the answer
    practice.py      the agent's school; simulated_job.py: one job in it; scenarios.py: what may happen to it
    evidence.py      config.ini and finished runs from every source -> what is known
    sources.py       the sources of runs which settings name, with their secrets
    opening.py       the store which settings name; author.py: who asks, for the audit log
    advice.py        where belief and agent meet: runs in, decision out
    ahead.py         expectations from history, trials, similar workloads; tradeoff.py: points, fronts and their marks
    promises.py      which configurations are expected to keep the SLA, and why none does
    outlook.py       what is to be expected of every configuration that could run
    undo.py          which changes are in force, and what stood there before them
    prior.py         where simulator and forecast meet: what is believed before a run and after it
    config/          config.ini -> Workload; Edits -> the same bytes but for the values
    telemetry/       finished runs from Prometheus or CSV logs
    history/         runs, suggestions and agent state in SQLite or PostgreSQL; the append-only audit log
    simulate/        training jobs drawn at random: what can be believed before the first run
    forecast/        the belief after the runs: time, cost and loss with intervals
    agent/           which candidate next: soft actor-critic over the belief, or keep
    replay/          recorded jobs played again, with JPO's peers
    cost/            prices, catalogues, what runs cost; the SLA
    inventory/       what the machine has; GPUs that were given and stay idle
    report/          the result for people and for machines
    space.py         choices and ranges in the caller's words -> numbers; given.py: their other arguments
    whole.py         files that appear whole or not at all
    runlog.py        what a training script imports: CSV log and metrics, standard library only
    layers.py        where settings come from; settings.py: all that can stand in jpo.toml
    records.py       the words which all of them share
    errors.py        what can go wrong

Beside it lies `constraints`, the guard: standard library only, knows nothing of jpo, asked twice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jpo.version import __version__

if TYPE_CHECKING:
    from jpo.advisor.advisor import Advisor
    from jpo.advisor.space import Range
    from jpo.records import Outcome, Preference

__all__ = ["Advisor", "Outcome", "Preference", "Range", "__version__"]

_HOME = {"Advisor": "jpo.advisor.advisor", "Outcome": "jpo.records", "Preference": "jpo.records", "Range": "jpo.advisor.space"}


def __getattr__(name: str) -> object:
    """The public API, imported when it is used: the command line starts without numpy."""
    if name not in _HOME:
        raise AttributeError(f"module 'jpo' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOME[name]), name)
