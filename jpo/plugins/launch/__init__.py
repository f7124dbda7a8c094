"""Launching: runs are started on an engine, followed, cancelled and accounted for. JPO submits to engines; it is no scheduler.

    job.py           what is to be started, and how it goes: LaunchJob, Needs, JobStatus, Room
    launcher.py      Launcher, the one contract of all engines (tests/launches.py is its suite), and what some can besides
    ledger.py        the account of launched runs: one folder each, intent before submission, the end before the record; what is
                     long over goes
    lifecycle.py     start, follow and cancel one run, whatever the engine; safe to call again after kill -9
    credentials.py   what looks like a credential in a config.ini or a command that others would see
    output_sync.py   files of a run that goes on, brought home now and then
    excerpt.py       words of engines and the last of a run in one line, for messages, without secrets
    exits.py         exit codes and signals in plain words
    script/          training scripts as they are read, never as they are run
    engines/         local/  slurm/  kubernetes/  aws/: a further one is a folder, its name in OWN, and in the summary below
    settings.py      [launch] of jpo.toml
    doctor.py        who keeps the limits of runs on this machine, for `jpo doctor`
    project/         engines and runs of [launch]; watching/: a run that goes on, as `jpo watch` sees it
    during/          what may be decided while a run goes on: stop, resize, another step
    cli/  story/  report/   `jpo run`, `watch` and `optimize`: options and help, what they do, what they show

The ledger is what makes a run start once: the intent with its id is on disk before an engine hears of it, and every engine's
`submit` is idempotent by that id, so that a start which was cut off is simply made again.
"""

from jpo.plugin import Plugin

PLUGIN = Plugin(
    "launch",
    summary="runs on this machine, SLURM, Kubernetes, AWS",
    commands={
        "run": "jpo.plugins.launch.cli.run:run",
        "watch": "jpo.plugins.launch.cli.watch:watch",
        "optimize": "jpo.plugins.launch.cli.optimize:optimize",
    },
    settings={"launch": "jpo.plugins.launch.settings:LaunchTable"},
    sources="jpo.plugins.launch.project.source:launched",
    checks={"Machine": "jpo.plugins.launch.doctor:limits_of_runs"},
    queue="jpo.plugins.launch.project.waiting:EngineQueue",
    offers={
        "live runs": "jpo.plugins.launch.watching.live:live_run",
        "model facts": "jpo.plugins.launch.project.finished:model_facts",
        "market": "jpo.plugins.launch.project.engines:market_of",
    },
    events="jpo.plugins.launch.watching.events:adjustments",
)
