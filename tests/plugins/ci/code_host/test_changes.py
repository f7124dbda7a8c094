from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from jpo.plugins.ci.code_host.changes import digest_of


@pytest.mark.parametrize("algorithm", ["sha1", "sha256"])
@pytest.mark.parametrize("content", [b"", b"[training]\r\nbatch_size = 64\r\n", "naïve".encode()])
def test_a_digest_is_that_of_git(content: bytes, algorithm: str, tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", f"--object-format={algorithm}", tmp_path], check=True)
    said = subprocess.run(["git", "hash-object", "--stdin"], input=content, cwd=tmp_path, capture_output=True, check=True)
    expected = said.stdout.decode().strip()
    assert digest_of(content, like=expected) == expected
