from __future__ import annotations

from pathlib import Path

import pytest

from jpo.errors import UsageError
from jpo.plugins.lab.replay import extras
from jpo.plugins.lab.replay.extras import is_installed, need


def test_a_missing_package_is_named_with_its_remedy() -> None:
    with pytest.raises(
        UsageError, match=r'optuna-tpe needs no_such_package, which is not installed; pip install "jpo\[replay\]"'
    ):
        need("optuna-tpe", "json", "no_such_package")


def test_a_folder_that_is_named_like_a_package_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "no_such_package").mkdir()
    monkeypatch.syspath_prepend(str(tmp_path))
    assert not is_installed("no_such_package")
    assert is_installed("json")


def test_the_remedy_fits_the_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extras, "is_installed", lambda _package: False)
    with pytest.raises(UsageError) as refused:
        need("optuna-gp", "optuna", "torch")
    assert str(refused.value).endswith('pip install "jpo[replay,learn]"')
