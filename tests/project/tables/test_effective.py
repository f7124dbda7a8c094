"""Each setting with its origin; that all of them read back the same is tests/commands/test_config.py."""

from __future__ import annotations

from pathlib import Path

from jpo.project.load import load
from jpo.project.tables.effective import Setting, effective


def shown(folder: Path, toml: str, environ: dict[str, str]) -> dict[str, Setting]:
    (folder / "jpo.toml").write_text(toml)
    return {".".join(each.path): each for each in effective(load(None, folder / "jpo.toml", environ, {}))}


def test_a_setting_is_shown_as_its_file_wrote_it_else_as_it_was_understood(tmp_path: Path) -> None:
    found = shown(tmp_path, '[sla]\ntime_max = "6h"\n', {"JPO_SLA__COST_MAX": "12 USD"})
    assert (found["sla.time_max"].value, found["sla.cost_max"].value) == ("6h", 12.0)
    assert (found["sla.cost_max"].origin, found["agent.explore"].origin) == ("environment JPO_SLA__COST_MAX", "built in")
    assert found["preference.time"].value == 0.5


def test_a_preference_is_one_whatever_wrote_it(tmp_path: Path) -> None:
    assert shown(tmp_path, 'preference = "cost"\n', {})["preference"].value == "cost"
    worth = shown(tmp_path, "preference = { usd_per_saved_hour = 20 }\n", {})
    assert [name for name in worth if name.startswith("preference")] == ["preference.usd_per_saved_hour"]


def test_what_lacks_its_secret_is_not_exact(tmp_path: Path) -> None:
    found = shown(tmp_path, "", {"PROMETHEUS_URL": "http://bob:pw@h:9090", "JPO_PROMETHEUS__HEADERS__X": "pw"})
    assert not found["prometheus.url"].exact
    assert not found["prometheus.headers.x"].exact
    assert found["store.url"].exact


def test_a_built_in_duration_is_shown_as_people_write_it(tmp_path: Path) -> None:
    found = shown(tmp_path, "", {"JPO_PROMETHEUS__TIMEOUT": "90"})
    assert (found["prometheus.since"].value, found["prometheus.timeout"].value) == ("90d", "1m 30s")
