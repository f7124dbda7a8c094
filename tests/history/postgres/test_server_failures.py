"""What a PostgreSQL server raises, as StoreErrors."""

from __future__ import annotations

import pytest

psycopg = pytest.importorskip("psycopg", reason='needs pip install "jpo[postgres]"')

from jpo.errors import StoreError  # noqa: E402
from jpo.history.postgres.server_failures import reported  # noqa: E402


@pytest.mark.parametrize(
    ("state", "code"),
    [
        ("23505", "JPO-E508"),  # unique_violation
        ("22P05", "JPO-E508"),  # untranslatable_character
        ("25006", "JPO-E514"),  # read_only_sql_transaction: a standby
        ("25P03", "JPO-E513"),  # idle_in_transaction_session_timeout
        ("40P01", "JPO-E501"),  # deadlock_detected
        ("42501", "JPO-E514"),  # insufficient_privilege, though 42 is damage
        ("42P01", "JPO-E502"),  # undefined_table
        ("53100", "JPO-E503"),  # disk_full
        ("53300", "JPO-E513"),  # too_many_connections
        ("57P01", "JPO-E513"),  # admin_shutdown
        ("0A000", "JPO-E599"),  # feature_not_supported
    ],
)
def test_each_sqlstate_has_the_code_of_its_longest_match(state: str, code: str) -> None:
    with pytest.raises(StoreError) as caught, reported("postgresql://db/jpo"):
        raise psycopg.errors.lookup(state)("the server's\nwords")
    assert (caught.value.code, caught.value.place) == (code, "postgresql://db/jpo")
    assert caught.value.finding.endswith("(the server's words)")


def test_an_error_without_a_state_is_a_lost_connection() -> None:
    with pytest.raises(StoreError) as caught, reported("postgresql://db/jpo"):
        raise psycopg.OperationalError("gone")
    assert (caught.value.code, caught.value.finding) == ("JPO-E513", "the connection to the server is lost (gone)")


def test_an_error_of_the_socket_is_a_lost_connection() -> None:
    with pytest.raises(StoreError) as caught, reported("postgresql://db/jpo"):
        raise OSError(24, "Too many open files")
    assert (caught.value.code, caught.value.finding) == ("JPO-E513", "the connection to the server is lost (Too many open files)")
