from __future__ import annotations

from typing import TYPE_CHECKING

from jpo.project.project import open_history
from jpo.project.running import running_now
from jpo.records import Identity

if TYPE_CHECKING:
    from opened_repository import Repository


def test_without_a_server_nothing_is_known_to_run(repository: Repository) -> None:
    _, settings = repository()
    with open_history(settings) as store:
        assert running_now(None, Identity("digits", "cnn", "pytorch"), settings, store) == ()
