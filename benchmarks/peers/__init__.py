"""Code that no product path uses: what benchmarks and tests compare JPO with, or compute from its results.

saved_hour.py    whether the hour that a more expensive configuration saves is worth its price
"""
