"""The bytes of config.ini as text."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from jpo.config.source import decode, encode
from jpo.errors import UsageError
from jpo.records import Workload

Read = Callable[..., Workload]

JOB = b"[workload]\ndataset = cifar10\nmodel = resnet18\nframework = pytorch\n"
CONFIG = JOB + b"[training]\nbatch_size = 32\nlr = 1e-1 # warm\n[resources]\nmemory = 16Gi\ncpus = 4\n"


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


@pytest.mark.parametrize(
    "data",
    [b"a = 1\r\nb = 2\rc = 3\n", b"\xef\xbb\xbfa = \xc3\xbc\n", b"a = \xfc\n", "a = 1\u2028b\x0c\n".encode()],
    ids=["line ends", "BOM", "latin-1", "no line ends"],
)
def test_text_becomes_the_same_bytes_again(data: bytes) -> None:
    source = decode(data, "config.ini")
    assert encode(source.lines, source) == data


def test_lines_end_only_where_text_files_end_them() -> None:
    assert decode("a\x0cb\u2028c\r\nd\re".encode(), "config.ini").lines == ("a\x0cb\u2028c\r\n", "d\r", "e")
