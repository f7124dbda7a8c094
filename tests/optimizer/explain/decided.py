"""Advice on a small job of three parameters, and its account: what the tests of the explanation start from."""

from __future__ import annotations

from collections.abc import Sequence

import constraints
from constraints import Limits
from jpo.cost import Prices
from jpo.optimizer.advise import Advice, advise
from jpo.optimizer.explain.account import Account, account_of
from jpo.optimizer.request import Request
from jpo.records import NAMED_PREFERENCES, Identity, Known, Outcome, Run, RunStatus, Undo
from tests.asked import a_request, changed

NOW = {"batch_size": 64.0, "gpus": 2.0, "cpus": 8.0}
LIMITS = Limits()
JOB = Identity("d", "m", "f")


def request(**changes: object) -> Request:
    usual = a_request(
        current=NOW,
        free=["batch_size", "gpus"],
        admissible=lambda today, proposed: constraints.approves(today, proposed, LIMITS),
        preference=NAMED_PREFERENCES["balanced"],
        prices=Prices(2.0, 0.04),
    )
    return changed(usual, **changes)


def runs(*measured: tuple[float, float, float]) -> list[Run]:
    """(batch size, gpus, seconds), oldest first."""
    return [
        Run(
            f"r{n}",
            JOB,
            {**NOW, "batch_size": batch, "gpus": gpus},
            RunStatus.SUCCEEDED,
            1000.0 * n,
            1000.0 * n + seconds,
            Outcome(duration_seconds=seconds),
            "csv",
        )
        for n, (batch, gpus, seconds) in enumerate(measured)
    ]


SEEN = runs((64, 2, 400), (64, 2, 404), (128, 2, 300), (64, 4, 390), (128, 2, 303))


def known(measured: Sequence[Run], last: Undo | None = None) -> Known:
    return Known(tuple(measured), last=last)


def advised(asked: Request, measured: Sequence[Run], *, last: Undo | None = None) -> Advice:
    return advise(asked, known(measured, last), None, seed=0)


def account(**changes: object) -> Account:
    asked = request(**changes)
    return account_of(advised(asked, SEEN), asked, known(SEEN), LIMITS)


STEEP = runs((64, 2, 400), (64, 2, 404), (128, 2, 200), (128, 2, 202), (256, 2, 100), (256, 2, 101))


def capped(limits: Limits, **changes: object) -> Account:
    allowed = request(
        free=["batch_size"], admissible=lambda today, proposed: constraints.approves(today, proposed, limits), **changes
    )
    return account_of(advised(allowed, STEEP), allowed, known(STEEP), limits)
