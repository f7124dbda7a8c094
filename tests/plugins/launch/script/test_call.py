from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from jpo.plugins.launch.script import call


@pytest.mark.parametrize(("returned", "code"), [("None", 0), ("3", 3), ("True", 0), ("{'loss': 1}", 0), ("'no data'", 1)])
def test_a_function_is_called_by_name_with_modules_beside_it(tmp_path: Path, returned: str, code: int) -> None:
    (tmp_path / "beside.py").write_text("VALUE = 7\n")
    script = tmp_path / "model.py"
    says = "print(batch_size, lr, beside.VALUE, __name__)"
    script.write_text(f"import beside\ndef train(batch_size, lr=1.0):\n    {says}\n    return {returned}\n")
    words = [sys.executable, "-I", call.__file__, str(script), "train", '{"batch_size": 64}']
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.stdout == "64 1.0 7 model\n"
    assert done.returncode == code


def test_main_calls_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "model.py"
    script.write_text("def run(epochs): return epochs\n")
    monkeypatch.setattr(sys, "path", ["", *sys.path])
    monkeypatch.setattr(sys, "argv", ["call.py"])
    with pytest.raises(SystemExit) as caught:
        call.main(str(script), "run", '{"epochs": 5}')
    assert caught.value.code == 5
