from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("boto3")

from botocore.exceptions import ClientError
from botocore.response import StreamingBody

from jpo.errors import LaunchError
from jpo.plugins.launch.engines.aws.bucket import end_of, fetch_output
from jpo.plugins.launch.engines.aws.request import Home

HOME = Home("eu-central-1", "ml-runs", "nightly/run-1")


class Bucket:
    """S3 as far as it is asked."""

    def __init__(self, files: dict[str, bytes], refusal: str = "", cut: str = "-") -> None:
        self.files, self.refusal, self.cut = files, refusal, cut

    def get_object(self, Bucket: str, Key: str) -> dict[str, Any]:  # noqa: N803 - AWS' names
        if self.refusal or Key not in self.files:
            raise ClientError({"Error": {"Code": self.refusal or "NoSuchKey", "Message": ""}}, "GetObject")
        content = self.files[Key]
        sent = content[: len(content) // 2] if Key.endswith(self.cut) else content
        return {"ETag": "x", "Body": StreamingBody(io.BytesIO(sent), len(content))}

    def list_objects_v2(self, Bucket: str, Prefix: str, MaxKeys: int) -> dict[str, Any]:  # noqa: N803
        return {"Name": Bucket, "Contents": [{"Key": key} for key in self.files if key.startswith(Prefix)][:MaxKeys]}


def test_output_and_logs_come_home_for_the_user_alone(tmp_path: Path) -> None:
    key = HOME.key
    s3 = Bucket(
        {f"{key}/output.log": b"hello", f"{key}/runs/run-1.csv": b"epoch", f"{key}/runs/../../../x": b"", f"{key}/runs/.h": b""}
    )
    fetch_output(s3, HOME, tmp_path)
    fetch_output(s3, HOME, tmp_path)
    assert sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()) == [
        "output.log",
        "runs/run-1.csv",
    ]
    assert (tmp_path / "output.log").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "runs/run-1.csv").read_bytes() == b"epoch"


def test_nothing_comes_home_where_nothing_is(tmp_path: Path) -> None:
    fetch_output(Bucket({}), HOME, tmp_path)
    assert end_of(Bucket({}), HOME) is None
    assert not (tmp_path / "output.log").exists()


@pytest.mark.parametrize("text", [b"", b"[]", b"{", b"\xff", b'{"a": 1, "a": 2}'])
def test_a_damaged_record_is_said(text: bytes) -> None:
    assert isinstance(end_of(Bucket({f"{HOME.key}/end.json": text}), HOME), str)


def test_half_a_record_is_no_end() -> None:
    with pytest.raises(LaunchError, match="gives no answer") as caught:
        end_of(Bucket({f"{HOME.key}/end.json": b'{"exit_code": 1}'}, cut="end.json"), HOME)
    assert caught.value.code == "JPO-E754"


@pytest.mark.parametrize("name", ["output.log", "runs/run-1.csv"])
def test_half_a_file_does_not_come_home(tmp_path: Path, name: str) -> None:
    with pytest.raises(LaunchError, match="gives no answer"):
        fetch_output(Bucket({f"{HOME.key}/{name}": b"epoch"}, cut=name), HOME, tmp_path)
    assert not (tmp_path / name).exists()


def test_a_bucket_that_may_not_be_read_is_said() -> None:
    with pytest.raises(LaunchError, match="AccessDenied") as caught:
        end_of(Bucket({}, "AccessDenied"), HOME)
    assert caught.value.code == "JPO-E766"
