"""The bytes of config.ini as text."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from jpo.errors import UsageError
from jpo.records import Workload

Read = Callable[..., Workload]

JOB = b"[workload]\ndataset = cifar10\nmodel = resnet18\nframework = pytorch\n"
CONFIG = JOB + b"[training]\nbatch_size = 32\nlr = 1e-1 # warm\n[resources]\nmemory = 16Gi\ncpus = 4\n"


def message(read: Read, data: bytes, **options: object) -> str:
    with pytest.raises(UsageError) as error:
        read(data, **options)
    assert error.value.exit_code == 2
    return str(error.value).replace(error.value.place.split(":")[0], "…/" + error.value.place.split(":")[0].rsplit("/", 1)[-1])


def test_missing_files_directories_and_pipes_are_refused(read: Read, tmp_path: Path) -> None:
    read(CONFIG)
    path = tmp_path / "config.ini"
    path.unlink()
    said = []
    for make in (lambda: None, path.mkdir, lambda: (path.rmdir(), os.mkfifo(path))):
        make()
        with pytest.raises(UsageError) as error:
            read(None)
        said.append(error.value.finding)
    assert said == ["cannot be read: No such file or directory", "is a directory", "is not a file"]
