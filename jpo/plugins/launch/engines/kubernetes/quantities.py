"""Amounts as Kubernetes writes them: "1500m", "64Gi", "1e3". They are texts, in YAML too."""

import math
import re

QUANTITY = re.compile(r"([+-]?\d+(?:\.\d*)?|[+-]?\.\d+)(?:([numkMGTPE]|[KMGTPE]i)|[eE]([+-]?\d{1,2}))?", re.ASCII)
SCALES = {"n": 1e-9, "u": 1e-6, "m": 1e-3, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18}
SCALES |= {f"{letter}i": 1024.0**power for power, letter in enumerate("KMGTPE", start=1)}
GIB = 2**30


def cpu_quantity(cpus: float) -> str:
    """CPUs, to the thousandth above: 1.5 -> "1500m", 2.0 -> "2"."""
    thousandths = max(1, math.ceil(round(cpus * 1000, 6)))
    return str(thousandths // 1000) if thousandths % 1000 == 0 else f"{thousandths}m"


def memory_quantity(gib: float) -> str:
    """Memory, to the MiB above: 1.5 -> "1536Mi", 2.0 -> "2Gi"."""
    mebibytes = max(1, math.ceil(round(gib * 1024, 6)))
    return f"{mebibytes // 1024}Gi" if mebibytes % 1024 == 0 else f"{mebibytes}Mi"


def amount(text: object) -> float | None:
    """The number that a quantity says; None for what is no quantity."""
    if not isinstance(text, str | int | float) or not (found := QUANTITY.fullmatch(str(text))):  # "True" is none either
        return None
    number, suffix, power = found.groups()
    value = float(number) * (SCALES[suffix] if suffix else 10.0 ** int(power or 0))
    return value if math.isfinite(value) else None
