"""The belief about a workload after its runs so far, and what it says about the next one."""

from jpo.forecast.belief import posterior
from jpo.forecast.predict import predict

__all__ = ["posterior", "predict"]
