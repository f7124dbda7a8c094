"""The GPUs of a project, by its settings: a catalogue, [card], [prices] gpu_type."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from user_project import Project


@pytest.mark.parametrize(
    ("tables", "gib"),
    [
        ('gpu_type = "a100-40gb"', 40),
        ('gpu_type = "a100-40gb"\n[card]\nmemory_gib = 48', 48),
        ('gpu_type = "l4"\ncatalogue = "aws"', 22),
        ('gpu_type = "h200"', 141),
        ("", None),
    ],
)
def test_the_memory_of_a_gpu_is_what_the_settings_say_of_it(empty: Project, tables: str, gib: int | None) -> None:
    model = empty.config.read_text().replace("cnn", "llama-2-7b").replace("epochs = 40", "max_length = 2048\nprecision = amp")
    empty.config.write_text(model.replace("cpus = 2", "gpus = 1"))
    toml = empty.folder / "jpo.toml"
    head, _, _ = toml.read_text().partition("epochs")
    toml.write_text(
        f"{head}\n[prices]\nusd_per_gpu_hour = 1\n{tables}\n".replace("usd_per_gpu_hour = 1\n" * ("aws" in tables), "")
    )
    answer = empty.jpo("check")
    assert answer.code == 0
    assert (f"which has {gib}," in " ".join(answer.out.split())) == (gib is not None)
    assert ("JPO-W871" in answer.out) == (gib is not None)
