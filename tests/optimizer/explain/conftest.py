from __future__ import annotations

import pytest

from jpo.optimizer.advise import Advice
from jpo.optimizer.explain.account import Account, account_of
from tests.optimizer.explain.decided import LIMITS, SEEN, advised, known, request


@pytest.fixture(scope="session")
def decided() -> tuple[Advice, Account]:
    """The advice after SEEN, and its account."""
    advice = advised(request(), SEEN)
    return advice, account_of(advice, request(), known(SEEN), LIMITS)
