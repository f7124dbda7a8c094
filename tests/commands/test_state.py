from __future__ import annotations

import gzip
import json
import os
import sqlite3
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from jpo.history import open_store
from jpo.records import Finished, Series

if TYPE_CHECKING:
    from user_project import Answer, Project


@pytest.fixture
def observed(project: Project) -> Project:
    """Seven runs on record; of the first and the newest it is known how they went."""
    project.jpo("observe")
    with open_store(f"sqlite:///{project.folder}/.jpo/jpo.db") as store:
        runs = [one.run for one in store.recorded_runs()]
        series = tuple(Series(run.run_id, "cpu_cores", (1.0, 2.0), (0.5, 0.6)) for run in (runs[0], runs[-1]))
        store.record(Finished(tuple(runs), series=series), now=2e9)
    return project


def elsewhere(project: Project, *arguments: str) -> Answer:
    """`jpo` on another, new store."""
    other = project.folder / "other.toml"
    other.write_text('[store]\nurl = "sqlite:///other.db"\n')
    return project.jpo(*arguments, "--config", str(other))


@pytest.mark.parametrize("name", ["backup.jsonl", "backup.jsonl.gz"])
def test_an_export_fills_another_store_with_the_same_history(observed: Project, name: str) -> None:
    answer = observed.jpo("state", "export", name)
    assert (answer.code, answer.out.startswith(f"exported to {name} ("), answer.err) == (0, True, "")
    answer = elsewhere(observed, "state", "import", name)
    assert answer.out == "imported 7 runs, 2 series, 7 audit records; the audit log's chain is intact\n"
    assert elsewhere(observed, "state", "export", "-").out == observed.jpo("state", "export", "-").out
    anchor = observed.jpo("audit", "verify", "--anchor").out.strip()
    assert elsewhere(observed, "audit", "verify", "--head", anchor).code == 0


def test_an_export_is_its_owners_alone_whole_and_the_same_each_time(observed: Project) -> None:
    first, second = observed.folder / "a.gz", observed.folder / "b.gz"
    first.write_text("old")
    for file in (first, second):
        assert observed.jpo("state", "export", str(file)).code == 0
    assert (first.stat().st_mode & 0o777, first.read_bytes()) == (0o600, second.read_bytes())
    lines = gzip.decompress(first.read_bytes()).splitlines()
    assert json.loads(lines[0])["format"] == "jpo state"
    assert json.loads(lines[-1])["end"]["runs"] == 7
    assert not list(observed.folder.glob(".jpo-new-*"))


def test_an_import_changes_a_store_in_use_in_nothing(observed: Project) -> None:
    observed.jpo("state", "export", "backup.jsonl")
    before = observed.jpo("state", "export", "-").out
    answer = observed.jpo("state", "import", "backup.jsonl")
    assert (answer.code, "is not empty; import into a new store [JPO-E515]" in answer.err) == (5, True)
    assert observed.jpo("state", "export", "-").out == before


def test_a_backup_that_was_cut_off_is_refused_by_its_line(observed: Project) -> None:
    observed.jpo("state", "export", "backup.jsonl")
    backup = observed.folder / "backup.jsonl"
    backup.write_bytes(b"".join(backup.read_bytes().splitlines(keepends=True)[:9]))
    answer = elsewhere(observed, "state", "import", "backup.jsonl")
    assert (answer.code, "backup.jsonl:9: ends early" in answer.err, "[JPO-E516]" in answer.err) == (5, True, True)
    assert elsewhere(observed, "state", "import", "config.ini").code == 5


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("export", ".jpo/jpo.db"), "JPO-E307"),
        (("export", ".jpo/jpo.db-wal"), "JPO-E307"),
        (("export", "missing/backup"), "JPO-E307"),
        (("export", "."), "JPO-E307"),
        (("export", "pipe"), "JPO-E307"),
        (("import", "missing"), "JPO-E307"),
        (("import", "."), "JPO-E307"),
    ],
)
def test_an_impossible_file_is_reported_and_nothing_left(observed: Project, words: tuple[str, str], code: str) -> None:
    os.mkfifo(observed.folder / "pipe")
    before = sorted(observed.folder.iterdir())
    answer = observed.jpo("state", *words)
    assert (answer.code, code in answer.err, answer.err.count("\n")) == (2, True, 1)
    assert sorted(observed.folder.iterdir()) == before
    assert (observed.folder / "pipe").is_fifo()
    assert observed.jpo("audit", "verify").code == 0


def test_a_store_that_is_not_there_is_no_backup(empty: Project) -> None:
    answer = empty.jpo("state", "export", "backup.jsonl")
    assert (answer.code, "there is nothing to export [JPO-E504]" in answer.err) == (5, True)
    assert not (empty.folder / "backup.jsonl").exists()


def test_gc_forgets_how_old_runs_went_and_says_so_in_the_log(observed: Project) -> None:
    observed.log_now(64, 40.0)
    said = "2 series of 2 runs that ended before"
    assert f"would forget {said}" in observed.jpo("state", "gc", "--dry-run").out
    assert f"forgot {said}" in observed.jpo("state", "gc").out
    assert "nothing to forget" in observed.jpo("state", "gc").out
    record = json.loads(observed.jpo("audit", "show", "-o", "json", "--limit", "1").out)
    assert (record["kind"], record["data"]["series"]) == ("forgotten", 2)
    assert "by" in record["data"]
    assert len(json.loads(observed.jpo("history", "--format", "json").out)["runs"]) == 7


def test_gc_keeps_what_ended_within_keep_series(observed: Project) -> None:
    age = time.time() - 1_700_000_000
    (observed.folder / "jpo.toml").write_text(f'[store]\nkeep_series = "{age - 3000:.0f}s"\n')
    assert "forgot 1 series of 1 run that" in observed.jpo("state", "gc").out


def test_gc_with_endless_patience_forgets_nothing(observed: Project) -> None:
    (observed.folder / "jpo.toml").write_text('[store]\nkeep_series = "99999999999999d"\n')
    assert "nothing to forget" in observed.jpo("state", "gc").out


def test_gc_gives_the_space_back(observed: Project) -> None:
    path = observed.folder / ".jpo" / "jpo.db"
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("UPDATE series SET packed = ?", (os.urandom(500_000),))
    connection.close()
    assert path.stat().st_size > 900_000
    assert observed.jpo("state", "gc").code == 0
    assert path.stat().st_size < 200_000
    assert observed.jpo("audit", "verify").code == 0


def test_gc_forgets_old_runs_only_where_the_settings_say_so_and_a_dry_run_forgets_none(observed: Project) -> None:
    with open_store(f"sqlite:///{observed.folder}/.jpo/jpo.db") as store:
        run = store.recorded_runs()[-1].run
        old = (replace(run, run_id=f"old-{at}", started_at=None, ended_at=run.ended_at - 1e6 + at) for at in range(2400))
        store.record(Finished(tuple(old)), now=2e9)
    assert "2400 runs" not in observed.jpo("state", "gc").out
    (observed.folder / "jpo.toml").write_text("[store]\nkeep_runs = 2300\n")
    told = observed.jpo("state", "gc", "--dry-run").out
    assert "would forget" in told
    assert "stay: the newest 2300, and" in told
    assert observed.jpo("state", "gc").out == told.replace("would forget", "forgot")
    assert "nothing to forget" in observed.jpo("state", "gc").out
    assert observed.jpo("audit", "verify").code == 0
    (observed.folder / "jpo.toml").write_text("[store]\nkeep_runs = 2299\n")
    assert "is neither all nor a whole number of at least 2300" in observed.jpo("state", "gc").err
