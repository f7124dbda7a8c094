"""Phases of a workload's runs on record, by the model that [phases] names: needs.py."""
