"""Names of parameters and quantities as people read them."""

from __future__ import annotations

from jpo.records import PARAMETERS

SHORT = dict(zip(PARAMETERS, ("batch", "lr", "layers", "epochs", "gpus", "cpus", "GiB"), strict=True))
"""Column heads of tables for people; the full names would not leave room for the values."""
