"""Finished runs from a Prometheus server: one request finds what is new, a dozen measure it.

runs.py           finished_runs: chunk by chunk, with the watermark of the next reading
client.py         queries by prometheus-api-client; answers.py: checks of answers
names.py          names of metrics and labels, by default and at a site; queries.py: PromQL; scope.py: workload and window
discovery.py      which runs there are, and which are over; measuring.py: the values of all new runs at once
pods/             runs that report nothing: pods whose labels say what they train
reported.py       what runs report about themselves
cluster.py        usage of pods from cAdvisor and GPU exporters; pod_lifetimes.py: start and end of pods; joined.py: of the run
time_series.py    single samples of the newest runs: percentiles and phases
"""
