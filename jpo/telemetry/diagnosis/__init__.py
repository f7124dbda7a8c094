"""Diagnosis of a server without runs of the workload: probes of one or two requests each.

probes.py          why there is no run, for the note of `jpo suggest`
examine.py         all probes, for `jpo doctor`: what the cluster measures, too
inquiry.py         what probes query, and the form of their findings
similar_names.py   names that may be meant
near_identical.py  the same workload under another spelling
pod_labels.py      runs without instrumentation, which may be hidden
"""
