"""The version of JPO."""

__version__ = "0.1.0"
