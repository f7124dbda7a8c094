import sys
import time
from pathlib import Path

import pytest

from constraints.workload_checker import Checker, checker_from, run_checker

PROPOSED = b"[training]\nbatch_size = 128\n"


def python(code: str) -> list[str]:
    return [sys.executable, "-I", "-S", "-c", code, "{config}"]


def gone(pid: int) -> bool:
    """Whether the process has ended within 20 seconds (a zombie has ended)."""
    for _ in range(1000):
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except (FileNotFoundError, ProcessLookupError):  # gone before it was opened, or while it was read
            return True
        time.sleep(0.02)
    return False


def test_exit_code_0_passes():
    assert run_checker(["true", "{config}"], PROPOSED, "config.ini", 10) is None


def test_the_checker_sees_a_copy_of_the_same_name_that_is_gone_afterwards(tmp_path):
    seen = tmp_path / "seen"
    code = f"import sys, pathlib; copy = pathlib.Path(sys.argv[1]); pathlib.Path({str(seen)!r}).write_text(str(copy)); "
    code += f"assert copy.read_bytes() == {PROPOSED!r}"
    assert run_checker(python(code), PROPOSED, "config.ini", 10) is None
    copy = Path(seen.read_text())
    assert copy.name == "config.ini"
    assert not copy.parent.exists()


def test_another_exit_code_rejects_and_the_last_lines_are_the_reason():
    code = (
        "import sys\nfor n in range(9): print('line', n, flush=True)\nprint('too big', file=sys.stderr, flush=True)\nsys.exit(7)"
    )
    reason = run_checker(python(code), PROPOSED, "config.ini", 10)
    assert reason is not None
    assert reason.startswith(f"{Path(sys.executable).name} rejects with exit code 7: ")
    assert "too big" in reason
    assert "line 0" not in reason


def test_a_checker_that_is_silent_or_crashes_is_quoted_as_such():
    assert run_checker(["false", "{config}"], PROPOSED, "config.ini", 10) == "false rejects with exit code 1 without any output"
    reason = run_checker(python("import os; os.kill(os.getpid(), 11)"), PROPOSED, "config.ini", 10)
    assert reason is not None
    assert "was ended by signal 11" in reason


def test_what_it_says_cannot_move_the_cursor_or_flood_the_report():
    hostile = "\x1b[31mred\x1b[0m \x1b]0;title\x07 \x9b1m bell\x07 \u202eright \r\n".encode() + b"\xff\xfe"
    code = f"import sys; o = sys.stdout.buffer; o.write(b'x' * 10_000_000 + b'\\n' + {hostile!r}); o.flush(); sys.exit(1)"
    reason = run_checker(python(code), PROPOSED, "config.ini", 20)
    assert reason is not None
    assert reason.isprintable()
    assert "red" in reason
    assert "[31m" not in reason
    assert len(reason) < 1200


@pytest.mark.parametrize(
    "name", ["; touch pwned", "$(touch pwned).ini", "`touch pwned`", "-rf", "a b'c\"d", "&& touch pwned |", "%s{0}"]
)
def test_nothing_in_a_file_name_is_interpreted(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code = f"import sys, pathlib; assert len(sys.argv) == 2; assert pathlib.Path(sys.argv[1]).name == {name!r}"
    assert run_checker(python(code), PROPOSED, name, 10) is None
    assert list(tmp_path.iterdir()) == []


def test_a_name_cannot_lead_out_of_the_private_folder(tmp_path):
    target = tmp_path / "escaped.ini"
    assert run_checker(["true", "{config}"], PROPOSED, f"../../../../../../..{target}", 10) is None
    assert not target.exists()


def test_a_checker_that_takes_too_long_is_killed_with_its_children(tmp_path):
    pids = tmp_path / "pids"
    began = time.monotonic()
    reason = run_checker(["sh", "-c", f'sleep 60 & echo $! $$ > "{pids}"; wait', "{config}"], PROPOSED, "config.ini", 0.5)
    assert reason == "sh did not answer within 0.5 s"
    assert time.monotonic() - began < 5
    assert all(gone(int(pid)) for pid in pids.read_text().split())


def test_a_child_that_is_left_behind_neither_delays_the_answer_nor_survives(tmp_path):
    pid = tmp_path / "pid"
    began = time.monotonic()
    assert run_checker(["sh", "-c", f'sleep 60 & echo $! > "{pid}"', "{config}"], PROPOSED, "config.ini", 30) is None
    assert time.monotonic() - began < 5
    assert gone(int(pid.read_text()))


def test_a_checker_that_closes_its_output_still_has_to_end():
    reason = run_checker(["sh", "-c", "exec >&- 2>&-; sleep 60", "{config}"], PROPOSED, "config.ini", 0.3)
    assert reason == "sh did not answer within 0.3 s"


def test_nothing_is_asked_on_standard_input():
    assert run_checker(python("import sys; assert sys.stdin.read() == ''"), PROPOSED, "config.ini", 10) is None


def test_a_checker_that_is_missing_or_not_executable_is_an_error_with_a_remedy(tmp_path):
    (tmp_path / "plain").write_text("no program")
    for program in ("no-such-workload-checker", str(tmp_path / "plain"), str(tmp_path)):
        with pytest.raises(ValueError, match=r"^\[check\] command: .+ cannot be run \(.+\); install it or name its path$"):
            run_checker([program, "{config}"], PROPOSED, "config.ini", 10)


def test_no_file_descriptor_is_left_open():
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(3):
        run_checker(["true", "{config}"], PROPOSED, "config.ini", 10)
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_the_check_table_names_command_and_timeout():
    table = {"check": {"command": ["workload_checker", "{config}"], "timeout": "5s"}}
    assert checker_from(table) == Checker(("workload_checker", "{config}"), 5.0)
    assert checker_from({"check": {"command": ["c", "--file={config}"]}}) == Checker(("c", "--file={config}"), 60.0)
    assert checker_from({}) is None
    assert checker_from({"check": {"command": []}}) is None


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"command": "checker {config}"}, "is not a list of texts"),
        ({"command": ["checker", 3]}, "is not a list of texts"),
        ({"command": ["checker", "a\0b"]}, "is not a list of texts"),
        ({"command": ["checker"]}, "gets no file to check"),
        ({"command": ["{config}"]}, "gets no file to check"),
        ({"command": ["checker", "{config}"], "timeout": "soon"}, "is not a duration"),
        ({"comand": ["checker", "{config}"]}, "unknown key 'comand'"),
    ],
)
def test_a_check_table_that_cannot_work_is_refused(table, message):
    with pytest.raises(ValueError, match=message):
        checker_from({"check": table})
