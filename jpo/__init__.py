"""JPO, the Job Parameter Optimizer: the next parameters of a recurring training job, from what its earlier runs cost.

The map of the package (imports go downwards only; `make check` holds it to that):

    __main__, cli    the command line: names, options, help
    arguments.py     words -> values; console.py: what reaches people and files
    commands/        one file per command; `suggest.py` is the whole story on one screen
    learning.py      the agent takes in the history, and is put to the release test
    proposal.py      advice -> new texts for config.ini, the guard's word, a suggestion with reasons
    practice.py      the agent's school: simulated jobs; experience.py: the history as transitions
    evidence.py      config.ini and finished runs from every source -> what is known
    advisor.py       where simulator, forecast and agent meet: runs in, decision out
    config/          config.ini -> Workload; Edits -> the same bytes but for the values
    telemetry/       finished runs from Prometheus or CSV logs
    history/         runs, suggestions and agent state in SQLite; the append-only audit log
    simulate/        training jobs drawn at random: what can be believed before the first run
    forecast/        the belief after the runs: time, cost and loss with intervals
    agent/           which candidate next: soft actor-critic over the belief, or keep
    cost/            price of a configuration; the SLA
    report/          the result for people and for machines
    layers.py        where settings come from; settings.py: all that can stand in jpo.toml
    records.py       the words which all of them share
    errors.py        what can go wrong

Beside it lies `constraints`, the guard: standard library only, knows nothing of jpo, asked twice.
"""

__version__ = "0.1.0"
