"""jpo.toml is edited without a loss: what is not touched stays byte by byte, and what cannot be added to is refused."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from jpo.errors import ConflictError, EditError, UsageError
from jpo.project.tables import toml_writer
from jpo.project.tables.toml_writer import TomlLine, edited, put_in

LINES = {"time_max": TomlLine('"4h"', "7 runs"), "cost_max": TomlLine("65")}
HERE = Path("jpo.toml")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", '[sla]\ntime_max = "4h"   # 7 runs\ncost_max = 65\n'),
        ("a = 1", 'a = 1\n\n[sla]\ntime_max = "4h"   # 7 runs\ncost_max = 65\n'),
        ("[sla]\n\n# of the prices\n[x]\n", '[sla]\ntime_max = "4h"   # 7 runs\ncost_max = 65\n\n# of the prices\n[x]\n'),
        ("[sla] # none\r\n[x]\n", '[sla] # none\r\ntime_max = "4h"   # 7 runs\r\ncost_max = 65\r\n[x]\n'),
        ('[sla]\ntime_max = "3h"   # mine\n\n[x]\n', '[sla]\ntime_max = "3h"   # mine\ncost_max = 65\n\n[x]\n'),
        ('sla.time_max = "3h"\nb = 1\n', 'sla.time_max = "3h"\nsla.cost_max = 65\nb = 1\n'),
        ("\ufeff[x]\n", '\ufeff[x]\n\n[sla]\ntime_max = "4h"   # 7 runs\ncost_max = 65\n'),
    ],
)
def test_lines_are_added_and_all_else_stays(before: str, after: str) -> None:
    found, written = edited(before.encode(), HERE, "sla", LINES, replace=False)
    assert found.decode() == after
    assert written.kept == (("time_max",) if "3h" in before else ())


def test_other_values_are_replaced_only_when_told_and_keep_their_comment() -> None:
    before = '[sla]\r\n  time_max = "3h"   # mine\r\n# end\n'
    found, written = edited(before.encode(), HERE, "sla", LINES, replace=True)
    assert found.decode() == '[sla]\r\n  time_max = "4h"   # mine\r\n# end\ncost_max = 65\r\n'
    assert (written.put, written.kept) == (("time_max", "cost_max"), ())
    again, written = edited(found, HERE, "sla", LINES, replace=True)
    assert (again, written.put) == (found, ())


@pytest.mark.parametrize(
    "before", ["sla = {}\n", 'sla = { time_max = "4h" } # all\n[x]\n', '["sla"]\n', "[ sla ]\n[sla.more]\nx = 1\n"]
)
def test_however_the_table_is_written_it_means_the_same_afterwards(before: str) -> None:
    found, _ = edited(before.encode(), HERE, "sla", LINES, replace=False)
    sla = tomllib.loads(found.decode())["sla"]
    assert {name: sla[name] for name in LINES} == {"time_max": "4h", "cost_max": 65}


@pytest.mark.parametrize("before", ["sla = 3\n", 'x = """\n[sla]\n"""\n', "[[sla]]\n"])
def test_what_cannot_be_added_to_is_refused(before: str) -> None:
    with pytest.raises(EditError, match="cannot be changed without loss") as caught:
        edited(before.encode(), HERE, "sla", LINES, replace=False)
    assert caught.value.code == "JPO-E226"


def test_what_is_no_toml_is_refused() -> None:
    with pytest.raises(UsageError) as caught:
        edited(b"[sla\n", HERE, "sla", LINES, replace=False)
    assert caught.value.code == "JPO-E301"


def test_the_file_is_made_replaced_whole_and_keeps_its_rights(tmp_path: Path) -> None:
    file = tmp_path / "jpo.toml"
    put_in(file, "sla", LINES, replace=False)
    assert tomllib.loads(file.read_text())["sla"] == {"time_max": "4h", "cost_max": 65}
    file.write_text("[x]\n")
    file.chmod(0o640)
    put_in(file, "sla", LINES, replace=False)
    assert (file.stat().st_mode & 0o777, [one.name for one in tmp_path.iterdir()]) == (0o640, ["jpo.toml"])


def test_a_lost_race_is_run_once_more_and_then_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "jpo.toml"
    file.write_text("[x]\n")
    changes = iter(["a = 1\n"])
    read = toml_writer.current

    def raced(path: Path) -> bytes | None:
        """Somebody else writes after the next read, as long as there is something to write."""
        content = read(path)
        if (change := next(changes, None)) is not None:
            path.write_text(change)
        return content

    monkeypatch.setattr(toml_writer, "current", raced)
    put_in(file, "sla", {"cost_max": TomlLine("65")}, replace=False)
    assert file.read_text() == "a = 1\n\n[sla]\ncost_max = 65\n", "what the other one wrote is kept"
    changes = iter([f"a = {number}\n" for number in range(9)])
    with pytest.raises(ConflictError):
        put_in(file, "sla", {"time_max": TomlLine('"4h"')}, replace=False)
