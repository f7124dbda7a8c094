"""Opening of a store by its URL."""

from collections.abc import Mapping
from pathlib import Path

from jpo.errors import UsageError
from jpo.history.database import Database
from jpo.history.sqlite import open_copy, open_database
from jpo.history.store import Store

NO_AUTHOR: Mapping[str, str] = {}
IN_MEMORY = "sqlite:// (in memory)"


def open_store(
    url: str,
    *,
    read_only: bool = False,
    timeout_seconds: float = 10.0,
    deadline_seconds: float = 60.0,
    author: Mapping[str, str] = NO_AUTHOR,
) -> Store:
    """Open the store that a URL names, creating it when missing: `with open_store(url) as store: ...`.

    Args:
        url: `sqlite:///jpo.db` is a path relative to the current folder, `sqlite:////var/jpo.db` an absolute one (a slash more,
            as in SQLAlchemy), `sqlite://` is in memory and gone when closed. `postgresql://user@host/database` is a server, with
            all that libpq knows (sslmode, service, PGPASSFILE ...).
        read_only: every method works, nothing is kept, no other process has to wait; empty when there is no store.
        timeout_seconds: how long to wait for a lock of another process, for a server that starts up, and for each of its answers.
        deadline_seconds: how long to wait for all locks, and all answers of a server that did not come at once, together.
        author: who uses the store and where; when not empty, every audit record's data holds it as "by".

    Raises UsageError: JPO-E509, the URL names no store this version knows; JPO-E512, PostgreSQL support is not installed.
    StoreError: it cannot be created, opened, read or migrated.
    """
    return Store(_database(url, read_only, timeout_seconds, deadline_seconds), author=author)


def _database(url: str, read_only: bool, timeout_seconds: float, deadline_seconds: float) -> Database:
    if not url.startswith(("postgresql://", "postgres://")):
        path = _path(url)
        place = str(path) if path else IN_MEMORY
        return (open_copy if read_only else open_database)(path, place, timeout_seconds, deadline_seconds)
    try:
        from jpo.history.postgres.preview import Preview
        from jpo.history.postgres.transactions import open_postgres
    except ImportError as error:
        finding = "PostgreSQL support is not installed"
        raise UsageError("store url", finding, 'pip install "jpo[postgres]"', code="JPO-E512") from error
    server = open_postgres(url, read_only=read_only, timeout_seconds=timeout_seconds, deadline_seconds=deadline_seconds)
    if server and not read_only:
        return server
    memory = open_database(None, server.place if server else IN_MEMORY, timeout_seconds, deadline_seconds)
    return Preview(server, memory) if server else memory


def _path(url: str) -> Path | None:
    """The file that a URL names, None for memory. A URL may hold a password: no message repeats it."""
    scheme, separator, rest = url.partition("://")
    if not separator or scheme != "sqlite":
        raise _no_store("starts with neither sqlite:// nor postgresql://")
    if rest in ("", "/:memory:"):
        return None
    if not rest.startswith("/") or rest == "/" or "\0" in rest:
        raise _no_store("names no file")
    return Path(rest.removeprefix("/"))


def _no_store(finding: str) -> UsageError:
    remedy = "write sqlite:///.jpo/jpo.db (relative), sqlite:////var/lib/jpo.db (absolute) or postgresql://user@host/database"
    return UsageError("store url", finding, remedy, code="JPO-E509")
