import re
import sys
from pathlib import Path

import pytest

from jpo.errors import UsageError
from jpo.history import AuditEvent, open_store


def test_three_slashes_are_relative_and_four_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    open_store("sqlite:///here/jpo.db").close()
    open_store(f"sqlite:///{tmp_path}/there/jpo.db").close()
    assert (tmp_path / "here/jpo.db").is_file()
    assert (tmp_path / "there/jpo.db").is_file()


@pytest.mark.parametrize("url", ["sqlite://", "sqlite:///:memory:"])
def test_a_store_in_memory_leaves_no_file(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with open_store(url) as store:
        store.audit(AuditEvent("learnt", 1.0))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["a b.db", "file:x?mode=memory", "ü.db", "50%25.db", "a#b.db"])
def test_a_path_is_taken_as_it_is_written(name: str, tmp_path: Path) -> None:
    open_store(f"sqlite:///{tmp_path}/{name}").close()
    assert [path.name for path in tmp_path.iterdir()] == [name]
    open_store(f"sqlite:///{tmp_path}/{name}", read_only=True).close()


@pytest.mark.parametrize(
    "url", ["", "jpo.db", "mysql://host/db", "sqlite:/x.db", "sqlite:///", "sqlite://host/x.db", "sqlite:///a\0b", "SQLITE"]
)
def test_a_url_that_names_no_store_is_the_users_mistake(url: str) -> None:
    with pytest.raises(UsageError, match="store url") as caught:
        open_store(url)
    assert caught.value.code == "JPO-E509"


@pytest.mark.parametrize(
    "url",
    [
        "mysql://jpo:hunter2@db/jpo",
        "jpo:hunter2@db",
        "postgresql://jpo:hunter2@x@db/jpo",
        "postgresql://jpo:x/hunter2@db/jpo",
        "postgresql://jpo:%hunter2@db/jpo",
        "postgresql://jpo:hunter2@db:port/jpo",
        "postgresql://jpo@db/jpo?pasword=hunter2",
        "postgresql://jpo:hunter2\udc80@db/jpo",
    ],
)
def test_a_refused_url_does_not_show_its_password(url: str) -> None:
    pytest.importorskip("psycopg", reason='pip install "jpo[postgres]"')
    with pytest.raises(UsageError) as caught:
        open_store(url)
    assert caught.value.code == "JPO-E509"
    assert "hunter2" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_postgresql_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    monkeypatch.delitem(sys.modules, "jpo.history.postgres.transactions", raising=False)
    monkeypatch.delitem(sys.modules, "jpo.history.postgres.server_failures", raising=False)
    with pytest.raises(UsageError, match=re.escape('PostgreSQL support is not installed; pip install "jpo[postgres]"')) as caught:
        open_store("postgresql://localhost/jpo")
    assert caught.value.code == "JPO-E512"
