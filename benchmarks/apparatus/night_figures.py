"""What the nights of nights.py come to: figures of some plays together, the promise, and the report."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from apparatus.night_jobs import KINDS
from apparatus.night_truth import LOSS_KEPT, WELL, Job
from apparatus.stamp import stamp

FAILED = 4.0
LAST_NIGHTS = 3
STUCK = 1.15
WORSE_LOSS = 1.03
DEAR = 1.2
TENTH = 1.1
"""A trial claims that it costs at most this much of today's values."""
EVEN, EXPECTED_DEARER = 0.5, 1.05
PROMISED_LAST, PROMISED_EVERY = 1.06, 1.18
PROMISED_DEAR, PROMISED_FAILED = 0.025, 0.02


@dataclass(frozen=True)
class Outcome:
    """What a night with some values is worth, without luck.

    Attributes:
        ratio: cost of the configuration in multiples of the best; FAILED if it fails, at least 1 if its loss is not kept.
        loss_ratio: its loss in multiples of the one to be kept.
    """

    ends: str
    ratio: float
    loss_ratio: float

    @property
    def failed(self) -> bool:
        return self.ends != WELL


@dataclass(frozen=True)
class Written:
    """A change that was written: what was said of it, and what came.

    Attributes:
        kind: what the document says; of one that does not say, "improvement" to values that were run, "trial" of others,
            "return" for an undoing, else who decided.
        chance: the stated one; None where none is stated.
        time, cost: expected, in multiples of today's; None where one of both is not known.
        today: what the values that were in force would have come to that night.
        then: what the written ones came to.
        chances: stated ones, by the claims of jpo/commands/doctor/claims.py.
    """

    kind: str
    chance: float | None
    time: float | None
    cost: float | None
    today: Outcome
    then: Outcome
    chances: Mapping[str, float] = field(default_factory=dict)

    @property
    def expected(self) -> float | None:
        """Under the balanced preference, in multiples of today's."""
        return None if self.time is None or self.cost is None else math.sqrt(self.time * self.cost)

    @property
    def came(self) -> float:
        return self.then.ratio / self.today.ratio

    @property
    def holds(self) -> bool:
        """Whether the claim was true: it ends well, keeps the loss, and costs less than today's; of others than improvements at
        most a tenth more."""
        kept = not self.then.failed and self.then.loss_ratio <= max(LOSS_KEPT, self.today.loss_ratio)
        return kept and (self.came < 1 if self.kind == "improvement" else self.came <= TENTH)


@dataclass(frozen=True)
class Night(Outcome):
    """A night: what stood in the file, how the run ended, and what JPO had said about it.

    Attributes:
        keeping: ratio of the committed values that night.
        seconds: which `jpo suggest` took.
        decided_by: empty where it gave no answer.
        in_vain: the file asked for more than the job takes (--reached).
        written: the change; None where today's values were kept.
        track: by quantity, how many of the last forecasts held, and of how many.
    """

    values: Mapping[str, float]
    keeping: float = math.inf
    seconds: float = 0.0
    decided_by: str = ""
    in_vain: bool = False
    written: Written | None = None
    codes: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    track: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    @property
    def worse(self) -> bool:
        return not self.failed and self.loss_ratio > WORSE_LOSS

    @property
    def against_keeping(self) -> float:
        return self.ratio / self.keeping


Play = list[Night]
Played = dict[str, dict[str, Play]]
"""By version, then by name of the job."""


@dataclass(frozen=True)
class Figures:
    """A line of the tables, over some plays.

    Attributes:
        first, last: geometric means of the first and of the last nights' ratios.
        worst_last: of the play that ends worst.
        every: mean ratio of all nights.
        stuck: plays whose last nights are above STUCK.
        dear: nights more than DEAR of what keeping the committed values would have cost.
        dearest: the night that costs most of that.
        worse, failed, in_vain: nights.
        by_sac: share of the decisions on evidence (SAC's, the rule's, undoings) that SAC took; None without any.
        seconds: median of a suggestion.
        changes: that were written.
        uneven: of these, at a stated chance of less than EVEN.
        expected_dearer: of these, expected to cost more than EXPECTED_DEARER of today's values.
        claims: changes with a stated chance.
        claimed, kept, brier: their mean chance, the share that held, and the mean square of the difference; None without any.
    """

    plays: int
    nights: int
    first: float
    last: float
    worst_last: float
    every: float
    stuck: int
    dear: int
    dearest: float
    worse: int
    failed: int
    in_vain: int
    by_sac: float | None
    seconds: float
    changes: int
    uneven: int
    expected_dearer: int
    claims: int
    claimed: float | None
    kept: float | None
    brier: float | None

    @property
    def promises(self) -> dict[str, bool]:
        """What is promised, in words, and whether it holds."""
        return {
            "no change written at less than even odds": not self.uneven,
            f"none that is expected to cost more than {EXPECTED_DEARER:g} of today": not self.expected_dearer,
            f"at most {PROMISED_DEAR:.1%} of nights above {DEAR:g} of keeping": self.dear <= PROMISED_DEAR * self.nights,
            f"last nights within {PROMISED_LAST:g} of the best": self.last <= PROMISED_LAST,
            f"of no job above {STUCK:g}": not self.stuck,
            f"all nights within {PROMISED_EVERY:g}": self.every <= PROMISED_EVERY,
            "none with a worse loss": not self.worse,
            f"at most {PROMISED_FAILED:.0%} failed": self.failed <= PROMISED_FAILED * self.nights,
        }

    @property
    def holds(self) -> bool:
        return all(self.promises.values())


def figures(plays: Sequence[Play]) -> Figures:
    """The figures of some plays together."""
    nights = [night for play in plays for night in play]
    lasts = [statistics.geometric_mean(night.ratio for night in play[-LAST_NIGHTS:]) for play in plays]
    decided = [night.decided_by for night in nights if night.decided_by in ("sac", "belief", "rollback")]
    changes = [night.written for night in nights if night.written]
    claims = [(change.chance, change.holds) for change in changes if change.chance is not None]
    return Figures(
        plays=len(plays),
        nights=len(nights),
        first=statistics.geometric_mean(play[0].ratio for play in plays),
        last=statistics.geometric_mean(lasts),
        worst_last=max(lasts),
        every=statistics.fmean(night.ratio for night in nights),
        stuck=sum(last > STUCK for last in lasts),
        dear=sum(night.against_keeping > DEAR for night in nights),
        dearest=max(night.against_keeping for night in nights),
        worse=sum(night.worse for night in nights),
        failed=sum(night.failed for night in nights),
        in_vain=sum(night.in_vain for night in nights),
        by_sac=decided.count("sac") / len(decided) if decided else None,
        seconds=statistics.median(night.seconds for night in nights),
        changes=len(changes),
        uneven=sum(chance < EVEN for chance, _ in claims),
        expected_dearer=sum((change.expected or 0) > EXPECTED_DEARER for change in changes),
        claims=len(claims),
        claimed=statistics.fmean(chance for chance, _ in claims) if claims else None,
        kept=statistics.fmean(held for _, held in claims) if claims else None,
        brier=statistics.fmean((chance - held) ** 2 for chance, held in claims) if claims else None,
    )


def report(played: Played, jobs: Sequence[Job], how: str) -> str:
    """The figures as a page of docs/benchmarks, and each job's nights in one line."""
    overall = {name: figures(list(plays.values())) for name, plays in played.items()}
    first = next(iter(overall.values()))
    lines = ["## Nights", "", f"{stamp()}. {how}; {first.plays} jobs, {first.nights} nights.", ""]
    rows = [
        (KINDS[kind].words, name, figures([plays[job.name] for job in jobs if job.kind == kind]))
        for kind in dict.fromkeys(job.kind for job in jobs)
        for name, plays in played.items()
    ]
    rows += [("**all**", name, them) for name, them in overall.items()]
    for head, cells in ((COSTS, costs), (CLAIMS, claims_of)):
        lines += ["| " + " | ".join(["jobs", "version", *head]) + " |", "|---|---|" + "---:|" * len(head)]
        lines += [f"| {words} | {name} | {' | '.join(cells(them))} |" for words, name, them in rows]
        lines.append("")
    for (before, old), (after, new) in pairwise(overall.items()):
        lines += [f"{after} / {before}: last nights {new.last / old.last:.3f}, all nights {new.every / old.every:.3f}.", ""]
    lines += [*against_keeping(played), ""]
    *_, judged = overall.values()
    lines += ["Promised: " + "; ".join(f"{words}{'' if held else ' - BROKEN'}" for words, held in judged.promises.items()) + "."]
    lines += [f"The promise {'holds' if judged.holds else 'DOES NOT HOLD'}.", ""]
    lines += ["Cost / best, night by night (x: failed, !: loss more than 3% worse):", "", "```"]
    width = max(len(job.name) for job in jobs), max(map(len, played))
    for job in jobs:
        lines += [
            f"{job.name:{width[0]}} {name:{width[1]}}" + "".join(map(word, plays[job.name])) for name, plays in played.items()
        ]
    return "\n".join([*lines, "```"])


def against_keeping(played: Played) -> list[str]:
    """A night's cost / best with its 90% interval: of other jobs of these kinds, by bootstrap over those that were played."""
    rng = np.random.default_rng(0)
    lines = ["| a night's cost / best (90% interval over jobs) | all nights | last nights |", "|---|---:|---:|"]
    for name, plays in {"today's values are kept": next(iter(played.values())), **played}.items():
        ratio = (lambda night: night.ratio) if name in played else (lambda night: night.keeping)
        cells = []
        for begin in (0, -LAST_NIGHTS):
            logs = np.array([np.mean(np.log([ratio(night) for night in play[begin:]])) for play in plays.values()])
            drawn = np.quantile(rng.choice(logs, (4000, len(logs))).mean(axis=1), (0.05, 0.95))
            cells.append("{:.2f} ({:.2f} to {:.2f})".format(*np.exp([logs.mean(), *drawn])))
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return lines


COSTS = ("first", f"last {LAST_NIGHTS} / best", "worst job's", "all nights", f"> {DEAR:g} of keeping", "worst / keeping")
COSTS += ("nights with loss > 3% worse", "failed nights", "in vain", "s")
CLAIMS = (
    "changes",
    f"at less than {EVEN:.0%}",
    f"expected > {EXPECTED_DEARER:g}",
    "claims",
    "claimed",
    "kept",
    "Brier",
    "by SAC",
)


def costs(them: Figures) -> list[str]:
    ratios = [f"{ratio:.2f}" for ratio in (them.first, them.last, them.worst_last, them.every)]
    dear = [f"{them.dear} of {them.nights}", f"{them.dearest:.2f}"]
    return [*ratios, *dear, str(them.worse), f"{them.failed} of {them.nights}", str(them.in_vain), f"{them.seconds:.1f}"]


def claims_of(them: Figures) -> list[str]:
    counts = [str(count) for count in (them.changes, them.uneven, them.expected_dearer, them.claims)]
    calibrated = ["–" if share is None else f"{share:.2f}" for share in (them.claimed, them.kept, them.brier)]
    return [*counts, *calibrated, "–" if them.by_sac is None else f"{them.by_sac:.0%}"]


def word(night: Night) -> str:
    return "    x " if night.failed else f" {night.ratio:.2f}{'!' if night.worse else ' '}"
