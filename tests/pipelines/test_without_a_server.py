"""Pipelines without any server, in a real interpreter of .gitlab-ci.yml: each from a clean checkout, with artifacts and caches of
the files that `jpo init` makes, and with nobody's config.ini edited."""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
GIT = ["git", "-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "init.defaultBranch=main"]
TRAIN = """\
import configparser, math, os, sys, time
from jpo.runlog import RunLog
config = configparser.ConfigParser()
config.read(sys.argv[1])
values = {name: value for section in config.sections() for name, value in config[section].items()}
batch = float(values.get("batch_size") or values.get("per_device_train_batch_size") or values["train_batch_size"])
reported = {"batch_size": batch, "learning_rate": values.get("learning_rate") or values["lr"]}
with RunLog(IDENTITY, parameters=reported, settings=os.environ) as log:
    if os.path.basename(os.path.dirname(sys.argv[1])) == os.environ.get("FAILS"):
        raise RuntimeError("no space left on the disk")
    for epoch in (1, 2):
        time.sleep(0.8 / math.sqrt(batch))
        log.batch(1000)
        log.epoch(epoch, train_loss=0.5 / epoch, val_loss=0.6 / epoch)
"""
JOB = "dataset=values['dataset'], model=values['model'], framework=values['framework']"
STRANGERS: Mapping[str, tuple[str, str]] = {
    "plain": (
        "[job]\ndataset = signs\nmodel = cnn\nframework = pytorch\n[training]\nbatch_size = 16\nlearning_rate = 0.01\n",
        JOB,
    ),
    "hugging-face": (
        """\
[model]
model_name_or_path = distilbert
[data]
dataset_name = imdb
[training]
per_device_train_batch_size = 16
learning_rate = 2e-5
weight_decay = 0.01
""",
        "dataset=values['dataset_name'], model=values['model_name_or_path'], framework='transformers'",
    ),
    "lightning": (
        """\
[trainer]
max_epochs = 2
precision = 16
[data]
batch_size = 16
num_workers = 4
[model]
class_path = signs.SignNet
lr = 0.001
""",
        "dataset='signs', model=values['class_path'], framework='lightning'",
    ),
    "deepspeed": (
        "[deepspeed]\ntrain_batch_size = 16\ntrain_micro_batch_size_per_gpu = 4\nnum_gpus = 1\nlr = 1e-4\n",
        "name='gpt'",
    ),
    "none-at-all": ("[a]\nbatch_size = 16\n[b]\nlr = 0.01\n", "name='my-net'"),
}


@dataclass
class Project:
    """A project on GitLab: its repository, and what its runner keeps from one pipeline to the next."""

    folder: Path
    gitlab_ci_local: str
    tools: Path
    said: list[str] = field(default_factory=list)

    def commit(self, message: str = "job") -> None:
        git(self.folder / "repository", "add", ".")
        git(self.folder / "repository", "commit", "--quiet", "--message", message)

    def pipeline(self, *, branch: str = "main", **variables: str) -> str:
        """The output of all jobs of one pipeline, from a clean checkout; nothing but the cache of earlier ones is there."""
        checkout = self.folder / f"checkout-{len(self.said)}"
        git(self.folder, "clone", "--quiet", "--branch", branch, "repository", checkout.name)
        git(checkout, "remote", "set-url", "origin", "git@gitlab.com:team/project.git")
        if (kept := self.folder / "cache").exists():
            shutil.copytree(kept, checkout / ".gitlab-ci-local" / "cache")
        given = {"GITLAB_CI": "true", "CI_DEFAULT_BRANCH": "main", "CI_COMMIT_REF_NAME": branch, **variables}
        options = ["--force-shell-executor", "--shell-isolation", "--no-json-schema-validation", "--no-artifacts-to-source"]
        options += [word for name, value in given.items() for word in ("--variable", f"{name}={value}")]
        path = f"{self.tools}{os.pathsep}{os.environ['PATH']}"
        environment = {"PATH": path, "HOME": str(self.folder), "LC_ALL": "C.UTF-8", "JPO_AGENT__LEARN_BUDGET": "0"}
        command = [self.gitlab_ci_local, *options, "--no-color", "--home", str(self.folder)]
        done = subprocess.run(command, cwd=checkout, env=environment, capture_output=True, text=True, check=False, timeout=240)
        shutil.rmtree(kept, ignore_errors=True)
        shutil.copytree(checkout / ".gitlab-ci-local" / "cache", kept)
        self.said.append(done.stdout + done.stderr)
        assert "command not found" not in self.said[-1], "a comment of a script was run"
        return self.said[-1]

    def history(self, name: str = "jpo") -> Path:
        return self.folder / "cache" / f"{name}-history" / ".jpo" / "jpo.db"


def git(folder: Path, *arguments: str) -> None:
    subprocess.run([*GIT, *arguments], cwd=folder, check=True, capture_output=True)


def project(folder: Path, gitlab_ci_local: str, tools: Path, files: Mapping[str, str]) -> Project:
    repository = folder / "repository"
    for name, text in files.items():
        (repository / name).parent.mkdir(parents=True, exist_ok=True)
        (repository / name).write_text(text)
    git(repository, "init", "--quiet")
    return Project(folder, gitlab_ci_local, tools)


def once_for_all(text: str) -> str:
    """The pipeline's file with what a team fills in: its component, here a file of the repository."""
    return re.sub(r"component: \S+", "local: ci/jpo.yml", text)


def jobs_of(store: Path) -> Iterator[dict[str, Any]]:
    with sqlite3.connect(f"file:{store}?mode=ro", uri=True) as database:
        for run_id, status in database.execute("SELECT run_id, status FROM runs ORDER BY ended_at"):
            yield {"run_id": run_id, "status": status}


def first_afternoon(folder: Path, kind: str, gitlab_ci_local: str, tools: Path) -> tuple[int, Project]:
    """From `git clone` to the second pipeline, as a newcomer does it; how many commands that took."""
    config, identity = STRANGERS[kind]
    script = TRAIN.replace("IDENTITY", identity)
    component = (ROOT / "pipelines/gitlab/templates/jpo.yml").read_text()
    hosted = project(folder, gitlab_ci_local, tools, {"config.ini": config, "train.py": script, "ci/jpo.yml": component})
    hosted.commit()
    commands = ["git clone", "jpo init config.ini --ci gitlab", "git commit", "git push"]
    repository = hosted.folder / "repository"
    done = subprocess.run([tools / "jpo", *commands[1].split()[1:]], cwd=repository, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    pipeline = repository / ".gitlab-ci.yml"
    pipeline.write_text(once_for_all(pipeline.read_text()))
    hosted.commit("JPO")
    for _ in range(2):
        hosted.pipeline()
    assert (repository / "config.ini").read_text() == config
    return len(commands), hosted


@pytest.mark.slow
def test_five_strangers_come_from_a_clone_to_an_improved_pipeline_in_four_commands(
    gitlab_ci_local: str, tools: Path, tmp_path: Path
) -> None:
    for kind in STRANGERS:
        (tmp_path / kind).mkdir()
    with ThreadPoolExecutor(2) as pool:
        tasks = {kind: pool.submit(first_afternoon, tmp_path / kind, kind, gitlab_ci_local, tools) for kind in STRANGERS}
        afternoons = {kind: task.result() for kind, task in tasks.items()}
    for kind, (commands, hosted) in afternoons.items():
        first, second = hosted.said
        assert commands <= 4
        assert "no finished run of this workload is known yet" in first, first
        assert re.search(r"jpo-suggest +> (TRIAL|IMPROVEMENT)", second), (kind, first, second)
        assert [run["status"] for run in jobs_of(hosted.history())] == ["succeeded", "succeeded"], (kind, second)


PIPELINES, FAILED, OF_A_BRANCH = 8, 3, 6
TWO_WORKLOADS = """\
include:
INCLUDES
stages: [train]
JOBS
"""


def two_workloads(gitlab_ci_local: str, tools: Path, folder: Path) -> Project:
    """One repository, one jpo.toml, two config.ini that do not say which job they are."""
    template = (ROOT / "pipelines/gitlab/.gitlab-ci.yml").read_text()
    train = template[template.index("\ntrain:") + 1 :]
    jobs = "\n".join(
        train.replace("train:", f"train-{n}:", 1).replace("train.py config.ini", f"train.py {n}/config.ini") for n in "ab"
    )
    includes = "\n".join(f"  - {{local: ci/jpo.yml, inputs: {{image: i, name: {n}, config: {n}/config.ini}}}}" for n in "ab")
    script = TRAIN.replace("IDENTITY", "name='shop-' + os.path.dirname(sys.argv[1])")
    return project(
        folder,
        gitlab_ci_local,
        tools,
        {
            ".gitlab-ci.yml": TWO_WORKLOADS.replace("INCLUDES", includes).replace("JOBS", jobs),
            "jpo.toml": '[workload]\nname = "shop"\n',
            "a/config.ini": "[training]\nbatch_size = 16\nlearning_rate = 0.01\n",
            "b/config.ini": "[training]\nbatch_size = 64\nlearning_rate = 0.1\n",
            "train.py": script,
            "ci/jpo.yml": (ROOT / "pipelines/gitlab/templates/jpo.yml").read_text(),
        },
    )


@pytest.mark.slow
def test_pipelines_in_a_row_carry_the_history_of_two_workloads(gitlab_ci_local: str, tools: Path, tmp_path: Path) -> None:
    """A failed training is on record as one, the pipeline of a merge request tries nothing new, and nothing is counted twice."""
    hosted = two_workloads(gitlab_ci_local, tools, tmp_path)
    hosted.commit()
    git(hosted.folder / "repository", "branch", "lab")
    for number in range(PIPELINES):
        if number == OF_A_BRANCH:
            hosted.pipeline(branch="lab", CI_OPEN_MERGE_REQUESTS="team/project!5")
        else:
            hosted.pipeline(**({"FAILS": "b"} if number == FAILED else {}))
    assert "PASS" in hosted.said[-1]
    for name in "ab":
        runs = list(jobs_of(hosted.history(name)))
        assert len(runs) == len({run["run_id"] for run in runs}) == PIPELINES
        assert [n for n, run in enumerate(runs) if run["status"] == "failed"] == ([FAILED] if name == "b" else [])
        change = re.compile(rf"{name}-suggest +> (?:training.batch_size +(\d+) +→ +(\d+)|unchanged: .*?batch (\d+))")
        found = [change.search(said).groups() for said in hosted.said]  # type: ignore[union-attr]
        lines = [(now or kept, following or kept) for now, following, kept in found]
        assert [now for now, _ in lines[1:]] == [following for _, following in lines[:-1]], "each starts from the values in force"
        assert len({following for _, following in lines}) > 1, "something was tried"
        assert hosted.history(name).stat().st_size < 1e6
    assert re.search(r"a-suggest +> KEPT", hosted.said[OF_A_BRANCH])
    assert not re.search("CSV logs contain no run", "".join(hosted.said))
