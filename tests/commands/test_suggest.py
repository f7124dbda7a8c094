from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import jsonschema

if TYPE_CHECKING:
    from conftest import Project

LATER = 200_000
"""Number of a run that starts after the suggestion, in 2033."""
ROOT = Path(__file__).parents[2]


def suggestion(project: Project, *options: str) -> dict[str, object]:
    answer = project.jpo("suggest", "config.ini", "--no-learn", "-o", "json", *options)
    assert answer.code == 0, answer.err
    document: dict[str, object] = json.loads(answer.out)
    return document


def test_the_text_report_shows_values_reasons_forecast_and_what_was_done(project: Project) -> None:
    out = project.jpo("suggest", "config.ini", "--no-learn").out
    assert "Workload digits/cnn/pytorch   7 finished runs used" in out
    assert "training.batch_size" in out
    assert "3 runs at 64; alone it takes 59 % less time (median)" in out
    assert "config.ini: 1 value written; decided by " in out


def test_json_keeps_to_the_published_schema(project: Project) -> None:
    schema = json.loads(project.jpo("config", "schema", "--output", "suggestion").out)
    document = suggestion(project, "--diff")
    jsonschema.validate(document, schema)
    assert document["status"] == "changed"
    assert "+batch_size = 64      # from the tutorial" in str(document["diff"])


def test_nothing_else_is_on_stdout_and_stderr_is_empty(project: Project) -> None:
    answer = project.jpo("suggest", "config.ini", "--no-learn", "-o", "json")
    json.loads(answer.out)
    assert answer.err == ""


def test_output_files_get_the_result_in_the_form_of_their_names(project: Project) -> None:
    answer = project.jpo("suggest", "config.ini", "--no-learn", "--output-file", "out.json", "--output-file", "out.md")
    assert answer.out.startswith("Workload digits/cnn/pytorch")
    assert json.loads((project.folder / "out.json").read_text())["written"] is True
    assert (project.folder / "out.md").read_text().startswith("### JPO: digits/cnn/pytorch")


def test_an_output_file_that_cannot_be_written_is_named_before_anything_changes(project: Project) -> None:
    before = project.config.read_bytes()
    answer = project.jpo("suggest", "config.ini", "--no-learn", "--output-file", "no/such/folder/out.json")
    assert (answer.code, project.config.read_bytes()) == (2, before)
    assert "no/such/folder" in answer.err


def test_dry_run_writes_nothing_anywhere(project: Project) -> None:
    before = {path: path.read_bytes() for path in project.folder.rglob("*") if path.is_file()}
    assert project.jpo("suggest", "config.ini", "--dry-run").code == 0
    assert {path: path.read_bytes() for path in project.folder.rglob("*") if path.is_file()} == before


def test_markdown_has_a_table_and_escapes_what_comes_from_the_file(project: Project) -> None:
    project.config.write_text(project.config.read_text().replace("model = cnn", "model = <b>cnn|x</b>"))
    out = project.jpo("suggest", "config.ini", "--no-learn", "-o", "markdown").out
    assert "<b>" not in out.replace("\\<b\\>", "")
    assert "| forecast | now |" in out


def test_set_takes_the_value_and_is_on_record(project: Project) -> None:
    document = suggestion(project, "--set", "batch_size=32")
    assert (document["decided_by"], document["suggested"]["batch_size"]) == ("user", 32)  # type: ignore[index]
    assert "batch_size = 32 " in project.config.read_text()
    assert '"new": "32"' in project.jpo("audit", "show").out


def test_set_of_an_unknown_parameter_or_no_number_is_a_usage_error(project: Project) -> None:
    for text, message in (
        ("dropout=0.5", "has no parameter dropout"),
        ("epochs=many", "is not a finite number"),
        ("epochs", "is not NAME=VALUE"),
    ):
        answer = project.jpo("suggest", "config.ini", "--set", text)
        assert answer.code == 2
        assert message in answer.err


def test_a_pinned_value_stays_and_cannot_be_set(project: Project) -> None:
    project.config.write_text(project.config.read_text().replace("# from the tutorial", "# jpo: pin"))
    assert "batch_size = 16 " in project.config.read_text()
    document = suggestion(project)
    assert document["suggested"]["batch_size"] == 16  # type: ignore[index]
    answer = project.jpo("suggest", "config.ini", "--set", "batch_size=32")
    assert answer.code == 3
    assert "pinned" in answer.err


def test_same_seed_and_history_same_answer(project: Project) -> None:
    first, second = (suggestion(project, "--dry-run", "--seed", "3") for _ in range(2))
    for volatile in ("suggestion_id", "created_at"):
        first.pop(volatile), second.pop(volatile)
    assert first == second


def test_explore_off_never_leaves_what_was_measured(project: Project) -> None:
    document = suggestion(project, "--explore", "off")
    assert document["suggested"]["batch_size"] in (16, 32, 64)  # type: ignore[index]


def test_what_the_user_prefers_is_on_record(project: Project) -> None:
    assert suggestion(project, "--prefer", "time=0.9,cost=0.1")["preference"] == {"time": 0.9, "cost": 0.1, "efficiency": 0.0}


def test_earlier_forecasts_are_compared_with_what_came(project: Project) -> None:
    project.jpo("suggest", "config.ini", "--no-learn")
    project.jpo("observe", "--csv", str(project.log(LATER, 64, 41.0)))
    track = suggestion(project, "--dry-run")["track_record"]
    assert track["forecasts"] == 1  # type: ignore[index]


def test_offline_makes_no_network_call(project: Project) -> None:
    code = (
        "import socket, sys\n"
        "def refuse(*_): raise AssertionError('network')\n"
        "socket.socket.connect = socket.getaddrinfo = refuse\n"
        "from jpo.__main__ import run\n"
        "sys.exit(run(['suggest', 'config.ini', '--no-learn', '--offline', '--prometheus-url', 'http://prometheus:9090']))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=project.folder, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "not refreshed" not in done.stdout


def test_the_suggest_path_imports_neither_torch_nor_pandas(project: Project) -> None:
    project.jpo("suggest", "config.ini", "--no-learn")  # a history and a store exist: the common case
    code = (
        "import sys\n"
        "from jpo.__main__ import run\n"
        "assert run(['suggest', 'config.ini', '--no-learn']) == 0\n"
        "print(*sorted({'torch', 'pandas', 'requests', 'prometheus_api_client'} & set(sys.modules)), file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=project.folder, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True
    )
    assert done.stderr == "\n"


def test_it_works_where_torch_is_not_installed(project: Project, tmp_path_factory: object) -> None:
    site = project.folder / "site"
    site.mkdir()
    for folder in (Path(entry) for entry in sys.path if entry.endswith(("site-packages", "dist-packages"))):
        for entry in folder.iterdir():
            if not entry.name.startswith(("torch", "jpo", "_jpo", "__editable__")) and not (site / entry.name).exists():
                (site / entry.name).symlink_to(entry)
    environment = {"PYTHONPATH": f"{site}:{ROOT}"}
    command = [sys.executable, "-S", "-m", "jpo"]

    def jpo(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*command, *arguments], cwd=project.folder, env=environment, capture_output=True, text=True, check=False
        )

    assert jpo("suggest", "config.ini").returncode == 0
    refused = jpo("learn", "config.ini")
    assert refused.returncode == 2
    assert 'torch is not installed; pip install "jpo[learn]"' in refused.stderr
