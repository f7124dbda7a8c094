"""`jpo check config.ini`: is this file readable, does it name its workload, and does it keep to the limits?"""

from __future__ import annotations

from pathlib import Path

import constraints
from jpo.errors import NothingAdmissible
from jpo.evidence import limits_of, workload_of
from jpo.layers import Loaded
from jpo.records import Parameter
from jpo.report.numbers import plain


def check(path: Path, loaded: Loaded, *, now: float) -> str:
    """What JPO understands of the file, for people.

    Raises:
        UsageError: the file or jpo.toml is invalid.
        NothingAdmissible: a value of today breaks a limit (JPO-E403).
    """
    workload = workload_of(path, loaded, now=now)
    verdict = constraints.check(workload.current, workload.current, limits_of(workload, loaded))
    broken = [violation.message for violation in (*verdict.violations, *verdict.notices)]
    if broken:
        raise NothingAdmissible(str(path), "; ".join(broken), "change the value, or the limit in jpo.toml", code="JPO-E403")
    return (
        "\n".join(
            [f"{path}: workload {workload.identity}", *map(line, workload.parameters), f"  valid; {verdict.rules} rules kept"]
        )
        + "\n"
    )


def line(parameter: Parameter) -> str:
    """One parameter as it stands in the file, and as JPO understands it."""
    held = f", {parameter.held}" if parameter.held else ""
    return f"  line {parameter.line}: {parameter.key} = {parameter.text}  ({parameter.name} {plain(parameter.value)}{held})"
