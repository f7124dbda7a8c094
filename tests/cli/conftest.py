from two_runs import jpo

__all__ = ["jpo"]
