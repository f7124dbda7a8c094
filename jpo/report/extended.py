"""The extended CSV: one row per run with what JPO makes of it, beside what was measured.

    run_id ... val_loss ...     as `jpo history --format csv`
    suggested_<parameter>       what the suggestion that the run followed had proposed
    reward_time ... _loss       natural logs of ratios to the workload's first run that ended well: 0 = as it, -0.69 = half of it
    reward                      what that is worth under the preference, beside the best until then: 0 = the best, -1 = a run more
    sla_<promise>               ok, broken or unknown; empty where jpo.toml promises nothing

Empty cells are not known. The head is always the same, and a file is taken for ours by it alone. The names of the promises are
handed in: what they mean is none of this part's business.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from jpo.errors import UsageError
from jpo.files import whole
from jpo.records import PARAMETERS, Run
from jpo.report.history import HEAD, row_of
from jpo.report.spreadsheet import csv_line

REWARDS = ("time", "cost", "efficiency", "loss")


@dataclass(frozen=True, slots=True)
class Judged:
    """A run and what JPO makes of it.

    Attributes:
        suggestion_id, suggested: the suggestion that it followed; None and empty without one.
        rewards: by name of REWARDS, those that are known.
        reward: the scalar; None where it is not known.
        sla: by name, what was promised.
    """

    run: Run
    suggestion_id: str | None
    suggested: Mapping[str, float]
    rewards: Mapping[str, float]
    reward: float | None
    sla: Mapping[str, str]


def head_of(targets: Iterable[str]) -> tuple[str, ...]:
    """The column names, with those of all promises that [sla] knows."""
    return (
        *HEAD,
        *(f"suggested_{name}" for name in PARAMETERS),
        *(f"reward_{name}" for name in REWARDS),
        "reward",
        *(f"sla_{name}" for name in targets),
    )


def as_csv(judged: Iterable[Judged], targets: Collection[str]) -> str:
    """The whole file."""
    lines = [csv_line(head_of(targets))]
    for one in judged:
        suggested = [one.suggested.get(name) for name in PARAMETERS]
        rewards = [one.rewards.get(name) for name in REWARDS]
        sla = [one.sla.get(name) for name in targets]
        lines.append(csv_line([*row_of(one.run, one.suggestion_id), *suggested, *rewards, one.reward, *sla]))
    return "".join(lines)


def write(path: Path, text: str) -> None:
    """The file whole or not at all, over an earlier one of its kind, and over nothing else.

    Raises:
        UsageError: JPO-E132, another file stands there; JPO-E307, it cannot be written.
    """
    try:
        with whole(path, over=ours(path, text.partition("\n")[0].split(","))) as new:
            new.write(text.encode())
    except FileExistsError as error:
        raise _not_ours(path) from error
    except OSError as error:
        raise UsageError(str(path), f"cannot be read ({error.strerror})", "name another one", code="JPO-E307") from error


def ours(path: Path, names: Iterable[str]) -> bool:
    """Whether an extended CSV with these columns stands there; False when nothing does.

    Raises:
        UsageError: JPO-E132, something else does.
        OSError: it cannot be read.
    """
    head = f"{','.join(names)}\n".encode()
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    with open(handle, "rb") as file:  # noqa: PTH123 - it is a descriptor
        if not stat.S_ISREG(os.fstat(handle).st_mode) or file.read(len(head)) != head:
            raise _not_ours(path)
    return True


def _not_ours(path: Path) -> UsageError:
    finding = "exists and was not written by this version of `jpo logs --extended`"
    return UsageError(str(path), finding, "name another file, or remove it", code="JPO-E132")
