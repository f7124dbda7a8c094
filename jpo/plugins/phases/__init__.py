"""Phases of what training containers use over time, and requests of CPU and memory that follow them (extra `phases` for fits).

traces.py      executions and their samples; recorded.py: of runs on record; files/: of tables, Grafana and Prometheus
features.py    samples as the models see them: scaled, near-duplicates left out
levels.py      how many phases there are and where they lie
chain.py       hidden Markov chains over many executions at once: filter, smoothing; best_path.py: Viterbi
markov.py      the default method as a scikit-learn estimator
methods/       other ways to find phases: hmmlearn, ruptures, AI4DL's
model.py       a fitted model as one record; model_file.py: as a file; fit.py: from traces to a model
parts.py       parts of a fitted model as files of their own
expand.py      a model that learns new traces
stream.py      the filter, sample by sample
table.py       the phases in figures; sketch.py: as lines for a terminal
forecast.py    what comes next in an execution; prototypes.py: kinds of executions
requests/      what is requested by them, beside simpler ways
following/     a run that goes on, and its request: `jpo phases follow`
extra.py       optional packages
project/       what jpo.toml and the store say of them
cli/  story/  report/   `jpo phases`: options and help, what it does, what it shows

In all of them `scaled` has shape (samples, d), `phases` and `labels` (samples,), execution after execution, of k phases.
"""

from jpo.plugin import Plugin

PLUGIN = Plugin(
    "phases",
    summary="phases of CPU and memory, and requests that follow",
    commands={"phases": "jpo.plugins.phases.cli.phases:phases"},
    settings={"phases": "jpo.plugins.phases.project.settings:PhasesTable"},
    context="jpo.plugins.phases.project.needs:with_phase_needs",
    past_context="jpo.plugins.phases.project.needs:with_needs_after",
    offers={"jobs of phases": "jpo.plugins.phases.story.jobs:phase_jobs"},
)
