"""URLs and values of PostgreSQL; the database itself is tested by tests/contracts against a real server."""

from __future__ import annotations

import gc
from typing import Any

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


def test_a_server_that_goes_before_a_cursor_is_closed_leaves_none_open(postgres: Any) -> None:
    url = postgres.new_database()
    database = open_postgres(url, read_only=False, timeout_seconds=5.0)
    assert database is not None
    rows = database.each("SELECT 1")
    assert next(rows) == (1,)
    session = "FROM pg_stat_activity WHERE application_name = 'jpo' AND datname = current_database()"
    postgres.sql(f"SELECT pg_terminate_backend(pid) {session}", url.partition("@/")[2].partition("?")[0])
    with pytest.raises(StoreError) as caught:
        rows.close()
    assert caught.value.code == "JPO-E513"
    del rows, caught
    gc.collect()  # a cursor that was still open would warn here, which is an error
    database.close()
