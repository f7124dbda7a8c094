"""Similar names: names and values that may be the one that is missing, and how messages show them."""

from collections.abc import Iterable
from difflib import SequenceMatcher

from jpo.http.quoting import quote

MOST_SHOWN = 3
LONGEST = 48
"""Characters of a value that are compared and shown: labels may hold kilobytes."""
MOST_COMPARED = 10_000
"""Values that are compared at most: half a second's work."""
ALIKE = 0.5
"""How alike two metric names are, 0 to 1, before one may be the other renamed."""
FAMILIES = ("container_", "kube_", "dcgm_fi_", "gpu_")
"""Prefixes of standard exporters' names: container_memory_rss is a metric of its own, not another one renamed."""


def nearest(wanted: str, candidates: Iterable[str]) -> list[str]:
    """Up to MOST_SHOWN of the candidates, the most similar to the wanted value first, regardless of case."""
    compared = sorted(candidates)[:MOST_COMPARED]
    return sorted(compared, key=lambda value: -_alike(wanted[:LONGEST], value[:LONGEST]))[:MOST_SHOWN]


def renamings(wanted: str, metrics: Iterable[str]) -> list[str]:
    """Up to MOST_SHOWN metrics that may be the wanted one under another name, the likeliest first."""
    low = wanted.lower()
    family, _, core = low.partition("_")

    def renamed(name: str) -> bool:  # it has the same core, or names the same thing (`k8s_container_mem_ws`: container)
        if core in name or (name in low and 2 * len(name) > len(low)):
            return True
        return family in name.split("_") and not name.startswith(FAMILIES) and _alike(low, name) >= ALIKE

    return nearest(wanted, (name for name in metrics if renamed(name[: 4 * LONGEST].lower())))


def _alike(wanted: str, other: str) -> float:
    return SequenceMatcher(None, other.lower(), wanted.lower(), autojunk=False).ratio()


def shown(value: str) -> str:
    """A value in quotes, without control characters, not longer than LONGEST."""
    line = quote(value)
    return f"'{line}'" if len(line) <= LONGEST else f"'{line[:LONGEST]}…'"


def span(seconds: float) -> str:
    """A length of time in the largest unit of which there are at least two: 90 days, 36h, 10m, 61s."""
    for unit, size in ((" days", 86400), ("h", 3600), ("m", 60)):
        if (number := round(seconds / size, 1)) >= 2:
            return f"{number:g}{unit}"
    return f"{seconds:.3g}s"
