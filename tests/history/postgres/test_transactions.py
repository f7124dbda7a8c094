"""URLs and values of PostgreSQL; the database itself is tested by tests/contracts against a real server."""

from __future__ import annotations

import pytest

pytest.importorskip("psycopg", reason='needs pip install "jpo[postgres]"')

from jpo.errors import StoreError, UsageError
from jpo.history.postgres.transactions import open_postgres

SECRET = "s3cret"


@pytest.mark.parametrize(
    "url", [f"postgresql://jpo:{SECRET}@x@db/jpo", f"postgresql://jpo:{SECRET}/x@db/jpo", "postgresql://db:x/jpo"]
)
def test_a_malformed_url_is_refused_and_not_repeated(url: str) -> None:
    with pytest.raises(UsageError) as caught:
        open_postgres(url, read_only=False, timeout_seconds=1.0)
    assert caught.value.code == "JPO-E509"
    assert SECRET not in str(caught.value)


def test_a_server_that_is_not_there_is_named_without_its_password() -> None:
    with pytest.raises(StoreError) as caught:
        open_postgres(f"postgresql://jpo:{SECRET}@127.0.0.1:1/jpo?connect_timeout=1", read_only=False, timeout_seconds=0.1)
    assert (caught.value.code, caught.value.place) == ("JPO-E513", "postgresql://127.0.0.1:1/jpo")
    assert SECRET not in str(caught.value)
