"""`jpo lab`: how JPO and its peers do on simulated jobs (simulate), recorded ones (replay) and one's own (logs).

cli/      options and help; story/: what each command does; report/: what it shows
replay/   recorded jobs played again, with JPO's peers
kubernetes_workloads.py  simulated Kubernetes workloads; resource_usage.py: CPU and memory over the time of a run
simulated_runs.py        what is compared of them; fleet.py: the results in numbers
environment.py           simulated jobs as a Gymnasium environment (extra `simulate`); episode.py: the job of one episode
"""

from jpo.plugin import Plugin

PLUGIN = Plugin(
    "lab",
    summary="simulate, replay, logs: how JPO and its peers do",
    commands={"lab": "jpo.plugins.lab.cli.lab:lab"},
)
