"""Runs without instrumentation: pods whose labels say dataset, model and framework, and that report nothing themselves.

labels.py     what labels and annotations of a pod say, and the slug by which a label is compared with config.ini
seen_pods.py  which pods of the workload were there since the watermark, and which still are
kube_state.py      what kube-state-metrics knows of these pods
grouping.py   which pods are one run, when it began and ended, and how
labelled.py   the runs of a scope, measured by what measures those that report themselves
"""
