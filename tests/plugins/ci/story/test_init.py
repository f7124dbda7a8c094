"""`jpo init`: what it makes changes nothing of what JPO does, replaces nothing, and runs on whatever config.ini JPO reads."""

from __future__ import annotations

import json
import re
import runpy
import shutil
import time
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest
import yaml
from answering import Handler, now, served, tells
from attacks import ATTACKS, check_markdown, steered

from jpo.__main__ import run

if TYPE_CHECKING:
    from user_project import Project

ROOT = Path(__file__).parents[4]
AWKWARD = runpy.run_path(str(ROOT / "tests" / "config" / "test_awkward.py"))
FILES = {
    name: data.replace(b"@", b"32") + (b"" if b"[workload]" in data else AWKWARD["IDENTITY"])
    for name, data in (*AWKWARD["EDITABLE"].items(), *((name, data) for name, (data, _) in AWKWARD["REFUSED"].items()))
}


class Said(NamedTuple):
    code: int
    out: str
    err: str


def answer_of(capsys: pytest.CaptureFixture[str], *words: str) -> Said:
    capsys.readouterr()
    code = run(list(words))
    return Said(code, *capsys.readouterr())


def made(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def bare(empty: Project) -> Project:
    """A config.ini, and nothing else."""
    (empty.folder / "jpo.toml").unlink()
    return empty


def test_it_makes_three_files_and_with_them_check_and_suggest_say_what_they_said_before(bare: Project) -> None:
    before = [bare.jpo("check", "-o", "json").out, decided(bare)]
    answer = bare.jpo("init", "config.ini", "--ci", "github")
    assert (answer.code, answer.err) == (0, "")
    assert made(bare.folder) == {"config.ini", "jpo.toml", ".jpo/.gitignore", ".github/workflows/jpo.yml"}
    assert [bare.jpo("check", "-o", "json").out, decided(bare)] == before
    assert bare.jpo("config", "check").out == "jpo.toml: valid\n"
    named = tomllib.loads((bare.folder / "jpo.toml").read_text())["parameters"]
    assert list(named) == ["batch_size", "learning_rate", "cpus"], "epochs are not freed by a file that a tool wrote"


def decided(project: Project) -> object:
    document = json.loads(project.jpo("suggest", "config.ini", "--dry-run", "--no-learn", "-o", "json").out)
    return {name: document[name] for name in ("status", "suggested", "reasons", "forecast", "guard")}


def test_next_it_says_the_line_that_the_training_script_lacks(bare: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    said = "in the training script, so that its runs are known: `from jpo.runlog import RunLog`, `with RunLog(dataset="
    steps = " ".join(bare.jpo("init", "config.ini", "--dry-run", "--offline").out.split("\nNext\n")[1].split())
    assert steps.startswith(f"- {said}")
    (bare.folder / "train.py").write_text("from jpo.runlog import RunLog\nwith RunLog(name='x') as log:\n    pass\n")
    assert said not in " ".join(bare.jpo("init", "config.ini", "--dry-run", "--offline").out.split())
    (bare.folder / "train.py").unlink()
    monkeypatch.setenv("PROMETHEUS_URL", "http://localhost:9090")
    assert said not in " ".join(bare.jpo("init", "config.ini", "--dry-run", "--offline").out.split())


def test_again_it_finds_all_as_it_would_be(bare: Project) -> None:
    bare.jpo("init", "--ci", "gitlab")
    before = {name: (bare.folder / name).read_bytes() for name in made(bare.folder)}
    document = json.loads(bare.jpo("init", "--ci", "gitlab", "-o", "json").out)
    assert [(file["became"], file["text"]) for file in document["files"]] == [("as it would be", None)] * 3
    assert {name: (bare.folder / name).read_bytes() for name in made(bare.folder)} == before


def test_a_dry_run_prints_the_files_and_makes_none(bare: Project) -> None:
    document = json.loads(bare.jpo("init", "--ci", "gitlab", "--dry-run", "-o", "json").out)
    assert made(bare.folder) == {"config.ini"}
    bare.jpo("init", "--ci", "gitlab")
    assert {file["path"]: file["text"] for file in document["files"]} == {
        name: (bare.folder / name).read_text() for name in ("jpo.toml", ".jpo/.gitignore", ".gitlab-ci.yml")
    }


def test_what_is_there_is_left_alone_and_what_it_lacks_is_printed(empty: Project) -> None:
    (empty.folder / ".gitlab-ci.yml").write_text("train: {script: [make]}\n")
    before = {name: (empty.folder / name).read_bytes() for name in made(empty.folder)}
    document = json.loads(empty.jpo("init", "-o", "json").out)
    assert {name: (empty.folder / name).read_bytes() for name in before} == before
    texts = {file["path"]: (file["became"], file["text"]) for file in document["files"]}
    assert texts["jpo.toml"][0] == texts[".gitlab-ci.yml"][0] == "there already"
    added = tomllib.loads(texts["jpo.toml"][1])["parameters"]
    assert list(added) == ["batch_size", "learning_rate", "cpus"]  # epochs are named in it
    assert yaml.safe_load(texts[".gitlab-ci.yml"][1])["include"][0]["inputs"]["config"] == "config.ini"
    assert "stages" not in texts[".gitlab-ci.yml"][1]


def test_settings_in_pyproject_are_settings(bare: Project) -> None:
    (bare.folder / "pyproject.toml").write_text("[tool.jpo.parameters]\nbatch_size = { max = 64 }\n")
    document = json.loads(bare.jpo("init", "--ci", "none", "-o", "json").out)
    assert (document["files"][0]["path"], document["files"][0]["became"]) == ("pyproject.toml", "there already")
    assert not (bare.folder / "jpo.toml").exists()


def test_a_link_that_leads_nowhere_or_out_of_the_project_is_not_written_through(
    bare: Project, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("outside")
    (bare.folder / "jpo.toml").symlink_to(outside / "jpo.toml")
    assert bare.jpo("init", "--ci", "none").code == 2  # settings that are no file are an error of every command
    (bare.folder / "jpo.toml").unlink()
    (bare.folder / ".github").symlink_to(outside)
    answer = bare.jpo("init", "--ci", "github")
    assert (answer.code, "out of the project" in answer.err, answer.err.count("\n")) == (2, True, 1)
    assert (made(bare.folder), list(outside.iterdir())) == ({"config.ini"}, [])


def test_a_folder_that_cannot_be_written_is_noticed_before_anything_is_made(bare: Project) -> None:
    (bare.folder / ".github").write_text("a file\n")
    answer = bare.jpo("init", "--ci", "github")
    assert (answer.code, "[JPO-E307]" in answer.err, made(bare.folder)) == (2, True, {"config.ini", ".github"})


@pytest.mark.parametrize(
    ("files", "remote", "expected"),
    [
        ([".gitlab-ci.yml"], "https://github.com/a/b", {".gitlab-ci.yml"}),
        ([".github/dependabot.yml"], "", {".github/workflows/jpo.yml"}),
        ([], "git@gitlab.example.com:a/b.git", {".gitlab-ci.yml"}),
        ([], "https://github.com/a/b", {".github/workflows/jpo.yml"}),
        ([], "https://git.example.com/a/b", set()),
        ([], "", set()),
    ],
)
def test_the_repository_shows_whose_pipeline_it_is(bare: Project, files: list[str], remote: str, expected: set[str]) -> None:
    for name in files:
        (bare.folder / name).parent.mkdir(exist_ok=True)
        (bare.folder / name).touch()
    (bare.folder / ".git").mkdir()
    (bare.folder / ".git" / "config").write_text(f'[remote "origin"]\n\turl = {remote}\n' if remote else "")
    document = json.loads(bare.jpo("init", "-o", "json", "--dry-run").out)
    assert {file["path"] for file in document["files"]} - {"jpo.toml", ".jpo/.gitignore"} == expected
    assert ("--ci gitlab or --ci github" in bare.jpo("init", "--dry-run").out) == (not expected)


def test_in_a_folder_of_the_repository_the_pipeline_names_it(bare: Project) -> None:
    (bare.folder / ".git").mkdir()
    (bare.folder / "jobs" / "train").mkdir(parents=True)
    bare.config.rename(bare.folder / "jobs" / "train" / "job.ini")
    assert bare.jpo("init", "jobs/train/job.ini", "--ci", "github").code == 0
    assert made(bare.folder) == {"jobs/train/job.ini", "jpo.toml", ".jpo/.gitignore", ".github/workflows/jpo.yml"}
    assert tomllib.loads((bare.folder / "jpo.toml").read_text())["workload"]["config"] == "jobs/train/job.ini"
    workflow = yaml.safe_load((bare.folder / ".github/workflows/jpo.yml").read_text())
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    assert "config.ini" not in re.sub(r"#.*", "", (bare.folder / ".github/workflows/jpo.yml").read_text())
    assert [step["with"]["path"] for step in steps if "path" in step.get("with", {})] == [
        *(".jpo", "jobs/train/job.ini", "${{ steps.jpo.outputs.report }}", "suggested", "jpo-report"),
        *("jobs/train", "jpo-report", "jobs/train", "runs", ".jpo", "runs"),
    ]
    guard = next(step["with"] for step in steps if "guard" in step.get("uses", ""))
    limits = {"in-force": "jpo-report/config.in-force.ini", "settings": "jpo.toml"}
    assert guard == {"before": "jobs/train/job.ini", "after": "suggested/job.ini", **limits}
    assert bare.jpo("check", "jobs/train/job.ini").code == 0
    assert bare.jpo("check", "-o", "json").out == bare.jpo("check", "jobs/train/job.ini", "-o", "json").out, "jpo.toml names it"


def test_a_second_job_of_the_repository_gets_settings_of_its_own(bare: Project) -> None:
    (bare.folder / ".git").mkdir()
    for name in ("a", "b"):
        (bare.folder / name).mkdir()
    bare.config.rename(bare.folder / "a" / "config.ini")
    other = "[workload]\ndataset = d\nmodel = m\nframework = f\n[opt]\nbs = 32\nlr = 0.1\n"
    (bare.folder / "b" / "config.ini").write_text(other)
    assert bare.jpo("init", "a/config.ini", "--ci", "none").code == 0
    first = (bare.folder / "jpo.toml").read_bytes()
    assert "JPO-E207" in bare.jpo("check", "b/config.ini").err
    assert bare.jpo("init", "b/config.ini", "--ci", "none").code == 0
    assert made(bare.folder) >= {"jpo.toml", ".jpo/.gitignore", "b/jpo.toml", "b/.jpo/.gitignore"}
    assert ((bare.folder / "jpo.toml").read_bytes(), bare.jpo("check", "b/config.ini").code) == (first, 0)
    assert bare.jpo("check", "a/config.ini").code == bare.jpo("check").code == 0
    again = json.loads(bare.jpo("init", "a/config.ini", "--ci", "none", "-o", "json").out)
    assert [file["became"] for file in again["files"]] == ["as it would be"] * 2


def test_pipelines_of_two_jobs_do_not_share_a_name(bare: Project) -> None:
    (bare.folder / ".git").mkdir()
    for name in ("a", "b"):
        (bare.folder / name).mkdir()
        (bare.folder / name / "config.ini").write_text(f"[workload]\ndataset=d\nmodel={name}\nframework=f\n[opt]\nbs = 32\n")
    workflows = bare.folder / ".github" / "workflows"
    for host in ("gitlab", "github"):
        assert bare.jpo("init", "a/config.ini", "--ci", host).code == 0
    told = {host: json.loads(bare.jpo("init", "b/config.ini", "--ci", host, "-o", "json").out) for host in ("gitlab", "github")}
    include = yaml.safe_load(told["gitlab"]["files"][-1]["text"])["include"][0]["inputs"]
    assert (include["name"], include["config"]) == ("jpo-b", "b/config.ini"), "jobs of one name replace each other"
    assert told["github"]["files"][-1]["became"] == "made"
    one, other = (yaml.safe_load((workflows / name).read_text()) for name in ("jpo.yml", "jpo-b.yml"))
    assert one["concurrency"]["group"] != other["concurrency"]["group"], "of those that wait in a group, one runs"
    assert one["jobs"]["persist"]["concurrency"]["group"] != other["jobs"]["persist"]["concurrency"]["group"]
    (bare.folder / ".gitlab-ci.yml").write_text((bare.folder / ".gitlab-ci.yml").read_text() + "# ours\n")
    again = json.loads(bare.jpo("init", "a/config.ini", "--ci", "gitlab", "-o", "json").out)["files"][-1]
    assert (again["became"], again["text"]) == ("there already", None), "it runs this job already"


def test_settings_next_to_config_ini_stay_and_the_cache_of_the_pipeline_is_theirs(bare: Project) -> None:
    (bare.folder / ".git").mkdir()
    (bare.folder / "train").mkdir()
    bare.config.rename(bare.folder / "train" / "config.ini")
    (bare.folder / "train" / "jpo.toml").touch()
    assert bare.jpo("init", "train/config.ini", "--ci", "gitlab").code == 0
    inputs = yaml.safe_load((bare.folder / ".gitlab-ci.yml").read_text())["include"][0]["inputs"]
    assert {name: inputs[name] for name in ("config", "settings", "history")} == {
        "config": "train/config.ini",
        "settings": "train/jpo.toml",
        "history": "train/.jpo",
    }


@pytest.mark.parametrize("name", ["a b.ini", "$(touch x).ini", "ü.ini", "-c.ini", "a'b.ini", "::error::x.ini"])
def test_a_path_that_would_need_quoting_is_in_no_pipeline_and_init_goes_without(bare: Project, name: str) -> None:
    bare.config.rename(bare.folder / name)
    answer = bare.jpo("init", "--ci", "github", "--", name)
    assert (answer.code, "[JPO-E910]" in answer.err, made(bare.folder)) == (2, True, {name})
    assert bare.jpo("init", "--ci", "none", "--", name).code == 0
    assert tomllib.loads((bare.folder / "jpo.toml").read_text())["workload"]["config"] == name
    assert bare.jpo("check").code == 0, "jpo.toml names it"


@pytest.mark.parametrize("name", FILES)
def test_whatever_jpo_reads_it_reads_alike_afterwards_and_what_it_refuses_is_refused_alike_or_decided(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("config.ini").write_bytes(FILES[name])
    before = answer_of(capsys, "check", "config.ini", "-o", "json")
    done = answer_of(capsys, "init", "config.ini", "--ci", "none")
    if "[JPO-E206]" in before.err:  # several options could be meant
        assert (done.code, "leaves it open; or: " in (tmp_path / "jpo.toml").read_text()) == (0, True)
        before = answer_of(capsys, "check", "config.ini", "-o", "json")
    assert done.code == before.code
    if before.code:
        assert (done.err, made(tmp_path)) == (before.err, {"config.ini"})
        return
    assert answer_of(capsys, "check", "config.ini", "-o", "json") == before
    assert answer_of(capsys, "suggest", "config.ini", "--dry-run", "--no-learn").code == 0
    assert Path("config.ini").read_bytes() == FILES[name]


@pytest.mark.parametrize("example", ["quickstart", "digits"])
def test_the_examples(example: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copy(ROOT / "examples" / example / "config.ini", tmp_path)
    monkeypatch.chdir(tmp_path)
    before = answer_of(capsys, "check", "-o", "json")
    assert answer_of(capsys, "init", "--ci", "gitlab").code == 0
    assert answer_of(capsys, "check", "-o", "json") == before
    assert answer_of(capsys, "suggest", "--dry-run", "--no-learn").code == 0


def test_prometheus_is_asked_where_it_is_named_and_needed_nowhere(bare: Project) -> None:
    def prometheus(handler: Handler) -> None:
        path = handler.path.partition("?")[0]
        labels = ["jpo_epoch", "container_cpu_usage_seconds_total"] if path.endswith("/__name__/values") else []
        tells(labels if "/label/" in path else now(time.time()) if path.endswith("/query") else {})(handler)

    with served(prometheus) as server:
        answer = bare.jpo("init", "--ci", "none", "--prometheus-url", server.url)
    assert answer.code == 0
    assert re.search(r"ok +CPU +from container_cpu_usage_seconds_total", answer.out)
    assert re.search(r"warning +reports +no metric jpo_run_info", answer.out)
    assert f'\n[prometheus]\nurl = "{server.url}"\n' in (bare.folder / "jpo.toml").read_text()
    down = bare.jpo("init", "--ci", "none", "--prometheus-url", "http://127.0.0.1:9", "-o", "json")
    assert (down.code, json.loads(down.out)["prometheus"][0]["status"]) == (0, "problem")


@pytest.mark.parametrize("of_the_environment", [True, False])
def test_no_secret_and_no_address_for_one_is_written(
    bare: Project, monkeypatch: pytest.MonkeyPatch, of_the_environment: bool
) -> None:
    monkeypatch.setenv("JPO_PROMETHEUS__AUTH__TYPE", "bearer")
    monkeypatch.setenv("JPO_PROMETHEUS__AUTH__TOKEN", "s3cret")
    address = "http://127.0.0.1:9"
    if of_the_environment:
        monkeypatch.setenv("PROMETHEUS_URL", "http://user:s3cret@127.0.0.1:9")
        monkeypatch.delenv("JPO_PROMETHEUS__AUTH__TYPE")
    answer = bare.jpo("init", "--ci", "none", *([] if of_the_environment else ["--prometheus-url", address]))
    text = (bare.folder / "jpo.toml").read_text()
    assert (answer.code, "s3cret" in text + answer.out, address in text) == (0, False, False)


def test_every_example_line_of_the_file_is_valid_once_its_mark_is_gone(bare: Project) -> None:
    bare.jpo("init", "--ci", "none")
    text = (bare.folder / "jpo.toml").read_text()
    (bare.folder / "jpo.toml").write_text(re.sub(r"^# (?=[\[\w][\w.\"]*(\]$| = ))", "", text, flags=re.MULTILINE))
    assert bare.jpo("config", "check").out == "jpo.toml: valid\n"
    assert {"prices", "sla", "prometheus", "csv", "preference"} <= set(tomllib.loads((bare.folder / "jpo.toml").read_text()))
    assert bare.jpo("check").code == 0


@pytest.mark.parametrize("form", ["text", "json", "markdown", "html"])
def test_no_text_of_the_file_steers_who_reads_the_answer(bare: Project, form: str) -> None:
    hostile = [attack for attack in ATTACKS if not {"\n", "\r", "="} & set(attack) and len(attack) < 200]
    lines = "".join(f"x{number} = 1 {attack}\n" for number, attack in enumerate(hostile))
    bare.config.write_text(
        f"[##[error]a]\nlr = 0.1  # jpo: pin\n{bare.config.read_text().replace('learning_rate', 'rate')}[others]\n{lines}"
    )
    answer = bare.jpo("init", "--dry-run", "--ci", "github", "-o", form)
    assert (answer.code, answer.err, steered(answer.out)) == (0, "", [])
    if form == "markdown":
        check_markdown(answer.out)
