"""A program in nvidia-smi's place that prints what real ones printed, and file trees as /proc and /sys/fs/cgroup have them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

Smi = Callable[..., str]
Tree = Callable[[Mapping[str, str]], Path]


@pytest.fixture
def smi(tmp_path: Path) -> Smi:
    """Write a program that answers a query and `-L`; its path."""

    def program(query: str, listed: str = "", *, ends_with: int = 0, first: str = "") -> str:
        path = tmp_path / "nvidia-smi"
        answers = f"cat <<'EOF'\n{query}\nEOF\n;;\n-L) cat <<'EOF'\n{listed}\nEOF\n;;"
        path.write_text(f'#!/bin/sh\n{first}\ncase "$1" in\n--query-gpu=*) {answers}\nesac\nexit {ends_with}\n')
        path.chmod(0o755)
        return str(path)

    return program


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    """Write files below one folder: path -> content; the folder."""

    def written(files: Mapping[str, str]) -> Path:
        root = tmp_path / "root"
        for name, content in files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
        return root

    return written
