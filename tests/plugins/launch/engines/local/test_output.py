from __future__ import annotations

import os
from pathlib import Path

from jpo.plugins.launch.engines.local.output import RunOutput


def written(file: Path, texts: list[bytes], most_bytes: int = 2**20) -> None:
    reader, writer = os.pipe()
    output = RunOutput(reader, file, most_bytes)
    for text in texts:
        os.write(writer, text)
        assert output.take()
    os.close(writer)
    assert not output.take()
    output.take_rest()
    os.close(reader)


def test_what_is_printed_stands_in_a_file_for_the_user_alone(tmp_path: Path) -> None:
    written(tmp_path / "output.log", [b"one\n", b"two\n"])
    assert (tmp_path / "output.log").read_bytes() == b"one\ntwo\n"
    assert (tmp_path / "output.log").stat().st_mode & 0o777 == 0o600


def test_the_end_of_long_output_is_kept_and_never_more_than_twice_the_limit(tmp_path: Path) -> None:
    written(tmp_path / "output.log", [b"%03d" % number * 10 for number in range(100)], most_bytes=100)
    assert (tmp_path / "output.log").read_bytes().endswith(b"099" * 10)
    assert sum(file.stat().st_size for file in tmp_path.iterdir()) <= 200


def test_a_job_goes_on_where_its_output_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "output.log").symlink_to("/dev/full")
    written(tmp_path / "output.log", [b"lost\n"])
    written(tmp_path / "nowhere/output.log", [b"lost\n"])
