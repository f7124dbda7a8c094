"""The store which settings name, opened in the name of whoever calls jpo."""

from __future__ import annotations

from jpo.history import Store, open_store
from jpo.project.load import LoadedSettings


def store_of(loaded: LoadedSettings, *, read_only: bool = False) -> Store:
    """The open store, a context manager; what it records says who and where. `read_only`: a copy, of which nothing is kept.

    Raises:
        UsageError: the URL names no store.
        StoreError: it cannot be made, opened or read.
    """
    timeout = loaded.settings.store.timeout
    return open_store(loaded.store_url, read_only=read_only, timeout_seconds=timeout, author=loaded.author)
