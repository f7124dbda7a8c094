"""JPO, the Job Parameter Optimizer: the next parameters of a recurring training job, from what its earlier runs cost.

It edits config.ini; the pipeline or the scheduler starts the job, or `jpo run` does, on an engine. The story of `jpo suggest` is
on one screen in commands/suggest.py: open the project, collect its runs, ask for advice, format and check it, put it on record,
write it; then the agent learns (commands/learn.py). The map, layer by layer; imports go down only:

    __main__.py      exit codes, and the one place that catches everything

    plugins/         what JPO does besides: launch ci imports page phases cluster lab estimates; folders, found by plugin.py

    cli/             names, options and help: one small click file per command; main.py groups them; gate.py: what is
                     printed, made harmless

    commands/        the story of each command, independent of each other; doctor/ is a folder of checks

    project/         one repository, opened once: settings.py declares jpo.toml, load.py merges it, project.py holds all of it;
                     workload, prices, sources of runs, proposal (asks the guard), record (audit, then write);
                     checkout/: the values in force, where the file has the committed ones, and the branch of a pipeline;
                     tables/: the larger tables of jpo.toml
    learning/        how the agent learns: from the history (experience), on simulated jobs (practice), and its release test;
                     serving.py: which policy may decide
    advisor/         JPO as a library: ask and tell, or a whole search in one call
    report/          results for people and programs: document(x) and as_json(x) of each subject; forms/ has the
                     five output formats

    optimizer/       where the parts meet: request, surrogate, sla, advise, suggestion, predictions, pareto/, explain/

    agent/           which candidate next: the problem, its acquisition values, the rule, the policy, the regret; sac/ learns
    forecast/        what will happen: the belief after the runs, its calibration, trials, transfer from other workloads
    simulate/        training jobs drawn at random: the prior of the belief, and what the agent practises on
    history/         runs, suggestions and agents in SQLite or PostgreSQL; the audit log; undoing
    telemetry/       finished runs from Prometheus and CSV logs, and why there are none
    config/          config.ini -> Workload; Edits -> the same bytes but for the values
    cost/            prices, catalogues, what a run costs; SLA targets
    inventory/       what this machine has; GPUs that stay idle

    http/            the HTTP session for all servers; secrets are hidden in what messages repeat of their answers

    wording/         numbers, names and units as people read them
    tables/          rows, numerals and units of tables that others wrote
    files/           atomic writes; reading.py: files that others wrote
    timeouts.py      external programs and clients: they have a time limit, then they end with all they started

    records/         the vocabulary: what the parts hand to each other
    policies.py      the names of those who may decide
    errors.py        what can go wrong; reason codes are named where they arise, docs/codes.md says what each means;
                     `git grep CODE jpo` finds its text, or the constant to look for next (doctor has texts of its own, and of a
                     choice report/headline.py's claim is shown); numbers and phrases come from wording/
    version.py  runlog.py (what a training script imports: standard library only)  dataclass.py (how records are declared)

What is often added, and whose docstring lists the places (tests/golden/renew.py writes the golden files anew):

    an engine  plugins/launch/engines/__init__.py    a column of history  report/history.py
    an importer  plugins/imports/__init__.py         a key of jpo.toml  project/settings.py
    an SLA target  cost/sla.py                       a job selection of the cluster lab  plugins/cluster/queueing/__init__.py

The chance of harm is chance_of_harm in agent/safety/risk.py, called by agent/acquisition.py and agent/safety/exploration.py; the
confidence shown is agent/safety/confidence.py. A plugin's `story/` is what `commands/` is in the core.

The eight from agent to inventory are the parts: none imports another, only optimizer and the layers above combine them. The four
of project, learning, advisor and report do not know each other. Next to this package is `constraints`, the guard: standard
library only, it knows nothing of jpo and reads its own tables of jpo.toml. It filters candidates, decides on the proposal, and
checks again, as a process of its own, in the pipeline. tests/ has the same tree.
"""

from typing import TYPE_CHECKING

from jpo.version import __version__

if TYPE_CHECKING:
    from jpo.advisor.advisor import Advisor
    from jpo.advisor.optimize import optimize
    from jpo.records import Outcome, Preference, Range

__all__ = ["Advisor", "Outcome", "Preference", "Range", "__version__", "optimize"]

_HOME = {
    "Advisor": "jpo.advisor.advisor",
    "optimize": "jpo.advisor.optimize",
    **dict.fromkeys(("Outcome", "Preference", "Range"), "jpo.records"),
}


def __getattr__(name: str) -> object:
    """The public API, imported when it is used: the command line starts without numpy."""
    if name not in _HOME:
        raise AttributeError(f"module 'jpo' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return __all__
