"""The documentation says what is true: commands parse, codes and commands are all there, links lead somewhere, TOML is valid."""

from __future__ import annotations

import difflib
import os
import re
import shlex
import shutil
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import click
import decision_page
import pytest
from command_lines import leaves
from pydantic import BaseModel

from jpo.__main__ import run
from jpo.cli.main import cli
from jpo.errors import ConflictError, EditError, JpoError, LaunchError, NothingAdmissible, StoreError, TelemetryError, UsageError
from jpo.plugins.imports.columns import FIELDS
from jpo.project.plugins.tables import settings_model
from jpo.records import PARAMETERS
from jpo.telemetry import contract
from jpo.telemetry.prometheus.names import LABELS, METRICS

ROOT = Path(__file__).parents[1]
PAGES = [
    ROOT / "README.md",
    ROOT / "CHANGELOG.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "SECURITY.md",
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "examples").rglob("README.md")),
    *sorted((ROOT / "jpo").rglob("weights/README.md")),
]
LOOKED_UP = ("codes.md", "benchmarks.md")
BOOKS = [*sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "docs/plugins").glob("*.md"))]
GUIDE = [page for page in BOOKS if page.name not in LOOKED_UP]
CODE = re.compile(r"JPO-[EWI]\d{3}")


def commands_in(text: str) -> Iterator[str]:
    """`jpo ...` in code blocks at the start of a line, and in backticks."""
    for line in text.split("\n"):
        if found := re.match(r"\s*(?:\$ |- )?(jpo [a-z].*)", line):
            yield found[1]
    yield from (found[1].replace("\n", " ") for found in re.finditer(r"(?<!`)`(jpo [a-z][^`]*)`(?!`)", text))


def all_commands() -> list[tuple[str, str]]:
    texts = {page: page.read_text() for page in PAGES}
    return [(str(page.relative_to(ROOT)), command) for page, text in texts.items() for command in commands_in(text)]


@pytest.mark.parametrize(("page", "line"), all_commands())
def test_every_command_in_the_documentation_parses(page: str, line: str) -> None:
    words = shlex.split(re.sub(" >>? .*", "", line), comments=True)[1:]
    command: click.Command = cli
    context = click.Context(cli, info_name="jpo")
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        found = command.get_command(context, words[0])
        assert found is not None, f"{page}: {line}"
        command, words = found, words[1:]
    command.make_context(line, words, parent=context, resilient_parsing="..." in line or "--help" in line)


def test_every_page_is_in_the_contents_of_the_guide() -> None:
    text = (ROOT / "docs/guide.md").read_text()
    pages = {page.relative_to(ROOT / "docs").as_posix() for page in BOOKS} - {"guide.md"}
    assert [name for name in sorted(pages) if f"({name})" not in text] == []


def test_every_command_is_in_the_readme_or_the_guide() -> None:
    text = "".join(page.read_text() for page in (ROOT / "README.md", *GUIDE))
    assert [name for name, _ in leaves() if f"jpo {name}" not in text] == []


def test_every_command_and_option_has_help() -> None:
    silent = [
        f"{name} {parameter.opts[0]}"
        for name, command in leaves()
        for parameter in command.params
        if isinstance(parameter, click.Option) and not (parameter.help or isinstance(parameter.type, click.Choice))
    ]
    assert [name for name, command in leaves() if not command.help] + silent == []


def test_the_page_of_reason_codes_has_exactly_the_codes_of_the_program() -> None:
    sources = [*(ROOT / "jpo").rglob("*.py"), *(ROOT / "constraints").rglob("*.py")]
    used = {code for source in sources for code in CODE.findall(source.read_text())}
    told = re.findall(r"^\*\*(JPO-[EWI]\d{3})\*\*: ", (ROOT / "docs/codes.md").read_text(), re.MULTILINE)
    assert sorted(told) == sorted(used), "each code once, and none that is not used"


def test_the_page_of_exit_codes_has_the_codes_of_the_errors() -> None:
    told = {int(number) for number in re.findall(r"^\*\*(\d+)\*\*: ", (ROOT / "docs/codes.md").read_text(), re.MULTILINE)}
    kinds = (JpoError, UsageError, NothingAdmissible, TelemetryError, StoreError, EditError, ConflictError, LaunchError)
    assert told == {0, 10, 130, 141} | {kind.exit_code for kind in kinds}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    text = page.read_text()
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
        assert target.startswith("http") or (page.parent / target).exists(), f"{page.name} links to {target}"


def anchors(page: Path) -> set[str]:
    """What GitHub, GitLab and the site make of the headings."""
    text = re.sub(r"^ *```.*?^ *```", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    headings = re.findall(r"^#+ (.*)$", re.sub(r"\]\(.*?\)", "]", text), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading).strip().lower().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_to_headings_lead_to_one(page: Path) -> None:
    for target, anchor in re.findall(r"\]\(([^)#\s]*)#([^)\s]+)\)", page.read_text()):
        if not target.startswith("http"):
            assert anchor in anchors(page.parent / target if target else page), f"{page.name} links to {target}#{anchor}"


def test_the_jpo_toml_of_the_guide_is_valid() -> None:
    (block,) = re.findall(r"```toml\n(.*?)```", (ROOT / "docs/jpo-toml.md").read_text(), re.DOTALL)
    every = settings_model(None)
    settings = every.model_validate(tomllib.loads(block))
    assert set(every.model_fields) - set(settings.model_fields_set) == set(), "the guide shows every section"


def keys(model: type[BaseModel], place: str = "") -> Iterator[tuple[str, str]]:
    """Each key of jpo.toml with its section, the sections of tables of tables under the name of the table."""
    for name, field in model.model_fields.items():
        tables = [each for each in (field.annotation, *get_args(field.annotation)) if isinstance(each, type)]
        inner = [each for each in tables if issubclass(each, BaseModel)]
        yield from ((place, name),) if place and not inner else ()
        for table in inner:
            yield from keys(table, f"{place}.{name}".strip("."))


def test_every_key_of_jpo_toml_is_in_the_guide() -> None:
    guide = "\n".join(page.read_text() for page in GUIDE)
    all_keys = list(keys(settings_model(None)))
    assert len(all_keys) > 100
    ways = r"(?<![\w.]){0}\"? *=|`(\[\w+\] )?{0}\b|__{1}=|^ *\[{2}\.{0}\]"  # a line, in a sentence, of the environment, a table
    assert [
        f"[{place}] {name}"
        for place, name in all_keys
        if not re.search(ways.format(name, name.upper(), re.escape(place)), guide, re.MULTILINE)
    ] == []


HOSTS = re.findall(r"```(toml|sh)\n(.*?)```", (ROOT / "docs/hosts.md").read_text(), re.DOTALL)


@pytest.mark.parametrize(("kind", "recipe"), HOSTS, ids=[re.search(r"//[\w.-]*", recipe)[0] for _, recipe in HOSTS])  # type: ignore[index]
def test_each_recipe_for_a_prometheus_is_understood(
    kind: str, recipe: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "jpo.toml").write_text(recipe if kind == "toml" else "")
    words = shlex.split(recipe, comments=True) if kind == "sh" else []
    given = dict(word.split("=", 1) for word in words if word != "export")
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    assert run(["config", "check"]) == 0, capsys.readouterr().err


def test_every_name_that_can_be_mapped_is_documented() -> None:
    text = (ROOT / "docs/prometheus.md").read_text()
    roles = [*(METRICS.keys() - set(contract.METRICS)), *(LABELS.keys() - set(PARAMETERS))]
    names = [name for role in roles for name in (METRICS | LABELS)[role]]
    assert [name for name in (*roles, *names) if f"`{name}`" not in text] == []


def test_the_csv_log_of_the_guide_can_be_read(tmp_path: Path) -> None:
    from jpo.telemetry.csv.log import read_log

    (block,) = re.findall(r"```text\n(# run_id=.*?)```", (ROOT / "docs/runs.md").read_text(), re.DOTALL)
    (tmp_path / "log.csv").write_text(block)
    run = read_log(tmp_path / "log.csv")
    assert (run.run_id, run.parameters["batch_size"], run.outcome.converged) == ("nightly-17", 64, True)


def test_the_library_example_of_the_guide_runs(capsys: pytest.CaptureFixture[str]) -> None:
    assert "batch_size" in printed_by("library.md", "from jpo import", capsys)


def test_the_environment_example_of_the_guide_runs(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("gymnasium", reason='gymnasium not found: pip install "jpo[simulate]"')
    assert "memory_utilisation" in printed_by("plugins/lab.md", "import gymnasium", capsys)


def test_the_environment_example_of_the_cluster_lab_runs() -> None:
    pytest.importorskip("gymnasium", reason='gymnasium not found: pip install "jpo[cluster]"')
    (block,) = re.findall(r"```python\n(.*?)```", (ROOT / "docs/plugins/cluster.md").read_text(), re.DOTALL)
    names: dict[str, object] = {}
    exec(compile(block, "docs/plugins/cluster.md", "exec"), names)  # noqa: S102 - the documentation's own code
    assert names["over"] is False


def printed_by(page: str, start: str, capsys: pytest.CaptureFixture[str]) -> str:
    """What the page's example that begins like this prints."""
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / page).read_text(), re.DOTALL)
    (block,) = (block for block in blocks if block.startswith(start))
    exec(compile(block, page, "exec"), {})  # noqa: S102 - the documentation's own code
    return capsys.readouterr().out


def test_the_capture_in_the_readme_is_what_the_demo_prints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (capture,) = re.findall(r"<!-- capture: make demo -->\n```text\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    shutil.copytree(ROOT / "examples" / "quickstart", tmp_path / "demo")
    monkeypatch.chdir(tmp_path / "demo")
    assert run(["suggest", "config.ini", "--no-learn"]) == 0
    printed = capsys.readouterr().out
    without_id = [
        re.sub(r"Suggestion \S+", "Suggestion ID", text).strip()
        for text in (capture.removeprefix("$ jpo suggest config.ini\n"), printed)
    ]
    assert without_id[0] == without_id[1]
    before, after = ROOT / "examples/quickstart/config.ini", Path("config.ini")
    _, _, _, *lines = difflib.unified_diff(before.read_text().splitlines(), after.read_text().splitlines(), lineterm="")
    diff = "\n".join(line.rstrip() for line in lines).strip("\n")
    assert f"<!-- capture: the diff of make demo -->\n```diff\n{diff}\n```" in (ROOT / "README.md").read_text()


def test_the_page_on_importing_shows_what_jpo_import_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (ROOT / "docs/plugins/imports.md").read_text()
    (table,) = re.findall(r"```csv\n(.*?)```", text, re.DOTALL)
    (answer,) = re.findall(r"```text\n\$ jpo import runs.csv\n(.*?)```", text, re.DOTALL)
    (tmp_path / "runs.csv").write_text(table)
    (tmp_path / "config.ini").write_text(
        "[workload]\ndataset = digits\nmodel = cnn\nframework = pytorch\n[training]\nbatch_size = 32\n"
    )
    monkeypatch.chdir(tmp_path)
    assert run(["import", "runs.csv"]) == 0
    assert capsys.readouterr().out == answer


def test_the_page_on_parameters_of_ones_own_shows_what_jpo_check_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (ROOT / "docs/parameters.md").read_text()
    for name, kind in (("config.ini", "ini"), ("jpo.toml", "toml")):
        (block,) = re.findall(rf"```{kind}\n(.*?)```", text, re.DOTALL)
        (tmp_path / name).write_text(block)
    (answer,) = re.findall(r"```text\n\$ jpo check\n(.*?)```", text, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    assert run(["check"]) == 0
    assert capsys.readouterr().out == answer
    assert run(["suggest", "--set", "optimizer=adam"]) == 0
    assert 'optimizer = "adam"     ; torch.optim\n' in (tmp_path / "config.ini").read_text()


def test_the_commands_of_the_page_on_launching_run_as_they_stand_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (block,) = re.findall(r"```sh\n(.*?)```", (ROOT / "docs/plugins/launch.md").read_text(), re.DOTALL)
    (tmp_path / "config.ini").write_text(
        "[workload]\ndataset = digits\nmodel = cnn\nframework = pytorch\n[training]\nbatch_size = 32\n"
    )
    (tmp_path / "train.py").write_text(
        "import os, sys\nfrom jpo.runlog import RunLog\nprint(open(sys.argv[1] if sys.argv[1:] else 'config.ini').name)\n"
        "job = dict(dataset='digits', model='cnn', framework='pytorch', parameters={'batch_size': 32})\n"
        "with RunLog(**job, settings=os.environ) as log:\n"
        "    log.batch(10)\n    log.epoch(1, train_loss=0.5, val_loss=0.5)\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    for line in block.splitlines():
        assert run(shlex.split(line, comments=True)[1:]) == 0, capsys.readouterr().err
    shown = capsys.readouterr().out
    assert shown.count("Run night-7 of digits/cnn/pytorch on local: succeeded") == 2
    assert len(list((tmp_path / ".jpo/launches").glob("*/launch.json"))) == 2


def test_the_page_on_importing_has_every_quantity_that_is_read() -> None:
    text = (ROOT / "docs/plugins/imports.md").read_text()
    assert [name for name in FIELDS if f"`{name}`" not in text] == []


def test_no_line_is_wider_than_a_terminal() -> None:
    """120 characters; docs/benchmarks has what `make bench` prints, and a ```text block is what a command prints."""
    wide = [
        f"{page.relative_to(ROOT)}:{number}"
        for page in (ROOT / "README.md", ROOT / "SECURITY.md", *sorted((ROOT / "docs").rglob("*.md")))
        if page.parent.name != "benchmarks"
        for number, line in enumerate(without_answers(page.read_text()).split("\n"), 1)
        if len(line) > 120
    ]
    assert wide == []


def without_answers(text: str) -> str:
    """The page, with as many empty lines in place of what commands print."""
    return re.sub(r"^```text\n.*?^```", lambda block: "\n" * block[0].count("\n"), text, flags=re.DOTALL | re.MULTILINE)


def test_every_decision_is_short() -> None:
    long = [page.name for page in (ROOT / "docs/decisions").glob("0*.md") if len(page.read_text().split("\n")) > 20]
    assert long == []


def test_every_number_of_a_decision_leads_to_a_page_or_a_line_of_the_history() -> None:
    folder = ROOT / "docs/decisions"
    there = [page.name[:4] for page in folder.glob("0*.md")] + re.findall(
        r"^- \*\*(\d{4})\*\*", (folder / "history.md").read_text(), re.MULTILINE
    )
    assert len(there) == len(set(there)), "each number once"
    sources = [page for folder in ("jpo", "docs", "tests", "benchmarks") for page in (ROOT / folder).rglob("*.[pm][yd]")]
    cited = {
        (number, source.name) for source in sources for number in re.findall(r"decisions?[ /](\d{4})", source.read_text("utf-8"))
    }
    assert [one for one in sorted(cited) if one[0] not in there] == []


def test_the_page_on_the_decision_has_the_rules_of_the_code() -> None:
    page = decision_page.PAGE.read_text()
    assert page == decision_page.renewed(page), "python tests/decision_page.py renews it"
