"""Platforms: clusters of nodes of processors of cores, and how they are described.

platform.py      the levels, flattened: what policies and simulations look at
described.py     a platform in TOML
hdeeprm.py       platforms and options of HDeepRM in JSON
"""
