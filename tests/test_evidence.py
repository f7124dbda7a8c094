"""What the commands know before they decide, as far as no command's own tests show it."""

from __future__ import annotations

from made import DIGITS, a_suggestion

from jpo.evidence import untried
from jpo.history import open_store

NOW = 1_700_000_000.0


def test_a_suggestion_dated_by_a_clock_far_ahead_is_not_waited_for() -> None:
    with open_store("sqlite://") as store:
        store.append(a_suggestion("s1", NOW - 60), config="config.ini", source_digest="ab")
        assert untried(store, DIGITS, (), now=NOW) is not None
        store.append(a_suggestion("s2", NOW + 86400), config="config.ini", source_digest="ab")
        assert untried(store, DIGITS, (), now=NOW) is None
