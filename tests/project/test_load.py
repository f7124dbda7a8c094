from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from jpo.agent.budget import BUDGET
from jpo.errors import UsageError
from jpo.project.load import allow, load, promised_elsewhere, without_credentials

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jpo.project.load import LoadedSettings


def loaded(
    folder: Path, toml: str = "", environ: Mapping[str, str] | None = None, flags: Mapping[str, object] | None = None
) -> LoadedSettings:
    (folder / "jpo.toml").write_text(toml)
    return load(folder / "config.ini", None, environ or {}, flags or {})


def refused(folder: Path, toml: str = "", environ: Mapping[str, str] | None = None) -> str:
    with pytest.raises(UsageError) as caught:
        loaded(folder, toml, environ)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_everything_has_a_default_without_any_file(tmp_path: Path) -> None:
    found = load(tmp_path / "config.ini", None, {}, {})
    assert (found.values.agent.explore, found.toml, found.values.prometheus.url) == ("safe", None, None)
    assert found.store_url == f"sqlite:///{tmp_path}/.jpo/jpo.db"


def test_flag_beats_environment_beats_jpo_toml_beats_pyproject(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.jpo.agent]\nexplore = "off"\nconfidence = 0.6\nlearn_budget = "1s"\n')
    toml, environ = '[agent]\nexplore = "on"\nconfidence = 0.7\n', {"JPO_AGENT__EXPLORE": "off"}
    agent = loaded(tmp_path, toml, environ, {"agent": {"explore": "safe"}}).values.agent
    assert (agent.explore, agent.confidence, agent.learn_budget) == ("safe", 0.7, 1.0)
    assert loaded(tmp_path, toml, environ).values.agent.explore == "off"
    assert loaded(tmp_path, toml).values.agent.explore == "on"


def test_the_runs_to_come_are_a_number_or_auto(tmp_path: Path) -> None:
    agent = loaded(tmp_path, "[agent]\nhorizon_runs = 30\nexploration_runs = 2\nbudget = 1.5\n").values.agent
    assert (agent.horizon_runs, agent.exploration_runs, agent.budget) == (30, 2, 1.5)
    assert loaded(tmp_path, environ={"JPO_AGENT__HORIZON_RUNS": "40"}).values.agent.horizon_runs == 40
    assert (loaded(tmp_path).values.agent.horizon_runs, loaded(tmp_path).values.agent.budget) == ("auto", BUDGET)
    for wrong in ("0", "-1", "2.5", "true", '"none"'):
        assert "is neither auto nor a whole number of at least 1" in refused(tmp_path, f"[agent]\nhorizon_runs = {wrong}\n")


def test_origins_name_the_place_of_each_value(tmp_path: Path) -> None:
    found = loaded(tmp_path, '[agent]\nexplore = "on"\n', {"PROMETHEUS_URL": "http://a"})
    assert str(found.origins["agent.explore"]) == str(tmp_path / "jpo.toml")
    assert str(found.origins["prometheus.url"]) == "environment PROMETHEUS_URL"


def test_a_new_preference_replaces_the_old_weights_together(tmp_path: Path) -> None:
    found = loaded(tmp_path, "[preference]\ntime = 0.4\ncost = 0.6\n", flags={"preference": "time=0.9,cost=0.1"})
    assert (found.values.preference.time, found.values.preference.cost) == (0.9, 0.1)


@pytest.mark.parametrize(("said", "weight"), [(None, 1.0), ("time", 0.0), ("time=0.5,loss=0.5", 0.5)])
def test_a_search_without_a_preference_is_for_the_best_loss(said: str | None, weight: float) -> None:
    preference = {} if said is None else {"preference": said}
    assert load(None, None, {}, {"agent": {"goal": "search"}, **preference}).values.preference.loss == weight
    assert load(None, None, {}, preference).values.preference.loss == (0.0 if said is None else weight)


def test_named_preferences_are_understood(tmp_path: Path) -> None:
    assert loaded(tmp_path, flags={"preference": "cost"}).values.preference.cost == 1.0


NIGHT = "[preferences.night]\ncost = 0.9\ntime = 0.1\n"


@pytest.mark.parametrize(("toml", "flags"), [(f'preference = "night"\n{NIGHT}', {}), (NIGHT, {"preference": "night"})])
def test_a_preference_of_the_teams_own_is_used_by_its_name(tmp_path: Path, toml: str, flags: Mapping[str, object]) -> None:
    found = loaded(tmp_path, toml, flags=flags).values
    assert (found.preference.cost, found.preference.time) == (0.9, 0.1)
    assert list(found.named_preferences) == ["time", "cost", "efficiency", "balanced", "night"]


def test_a_preference_of_ones_own_is_replaced_as_a_whole(tmp_path: Path) -> None:
    found = loaded(tmp_path, NIGHT, {"JPO_PREFERENCES__NIGHT": "{ efficiency = 1.0 }"})
    assert found.values.named_preferences["night"].efficiency == 1.0
    assert str(found.origins["preferences.night"]) == "environment JPO_PREFERENCES__NIGHT"


def test_an_unknown_preference_is_refused_with_all_that_are_known(tmp_path: Path) -> None:
    assert "'day' is not a preference; write time, cost, efficiency, balanced, night or" in refused(
        tmp_path, f'preference = "day"\n{NIGHT}'
    )


def test_environment_variables_without_a_section_are_not_settings(tmp_path: Path) -> None:
    assert loaded(tmp_path, environ={"JPO_RUN_ID": "17", "JPO": "x"}).tables == {}


@pytest.mark.parametrize("name", ["token", "password"])
def test_secrets_in_jpo_toml_are_refused_and_not_repeated(tmp_path: Path, name: str) -> None:
    told = refused(tmp_path, f'[prometheus.auth]\ntype = "bearer"\n{name} = "hunter2"\n')
    assert f"JPO_PROMETHEUS__AUTH__{name.upper()}" in told
    assert "hunter2" not in told


def test_a_wrong_value_next_to_a_secret_does_not_show_the_secret(tmp_path: Path) -> None:
    environ = {"JPO_PROMETHEUS__AUTH__TOKEN": "hunter2", "JPO_PROMETHEUS__AUTH__TYPE": "basic"}
    assert "hunter2" not in refused(tmp_path, environ=environ)


def test_no_secret_is_kept_in_the_tables_which_the_guard_reads(tmp_path: Path) -> None:
    found = loaded(tmp_path, environ={"JPO_PROMETHEUS__AUTH__TOKEN": "hunter2", "JPO_PROMETHEUS__AUTH__TYPE": "bearer"})
    assert found.values.prometheus.auth.token is not None
    assert "hunter2" not in repr(found)


def test_a_list_in_the_environment_is_a_toml_value(tmp_path: Path) -> None:
    assert loaded(tmp_path, environ={"JPO_CSV__LOGS": '["a", "b"]'}).values.csv.logs == ("a", "b")
    assert "is not a TOML value" in refused(tmp_path, environ={"JPO_CSV__LOGS": "[a"})


def test_files_that_are_missing_too_large_or_not_utf8_are_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"gone\.toml: cannot be read \(No such file"):
        load(None, tmp_path / "gone.toml", {}, {})
    (tmp_path / "latin.toml").write_bytes(b"# \xe9\n")
    with pytest.raises(UsageError, match="is not UTF-8"):
        load(None, tmp_path / "latin.toml", {}, {})
    (tmp_path / "large.toml").write_bytes(b"#" * (1 << 20) + b"\n")
    with pytest.raises(UsageError, match="larger than 1 MiB"):
        load(None, tmp_path / "large.toml", {}, {})


def test_a_relative_store_starts_at_jpo_toml(tmp_path: Path) -> None:
    found = loaded(tmp_path, '[store]\nurl = "sqlite:///deep/down.db"\n')
    assert found.store_url == f"sqlite:///{tmp_path}/deep/down.db"
    assert loaded(tmp_path, '[store]\nurl = "sqlite:////abs.db"\n').store_url == "sqlite:////abs.db"


@pytest.mark.parametrize("url", ["postgresql://jpo:s3cret@db/jpo", "postgresql://db/jpo?user=jpo&password=s3cret"])
def test_a_password_of_the_store_comes_from_the_environment_alone(tmp_path: Path, url: str) -> None:
    told = refused(tmp_path, f'[store]\nurl = "{url}"\n')
    assert "JPO_STORE__URL" in told
    assert "s3cret" not in told
    found = loaded(tmp_path, "", {"JPO_STORE__URL": url})
    assert (found.store_url, found.store_place, found.store_file) == (url, "postgresql://db/jpo", None)


def test_a_store_on_a_server_may_stand_in_jpo_toml_without_a_password(tmp_path: Path) -> None:
    assert loaded(tmp_path, '[store]\nurl = "postgresql://jpo@db:5432/jpo"\n').store_place == "postgresql://db:5432/jpo"


def test_signing_for_amazon_needs_a_region(tmp_path: Path) -> None:
    assert "region" in refused(tmp_path, '[prometheus]\nauth = { type = "sigv4" }\n')


def test_a_token_file_that_would_not_be_used_is_refused(tmp_path: Path) -> None:
    assert 'write type = "bearer"' in refused(tmp_path, '[prometheus]\nauth = { token_file = "token" }\n')


def test_a_secret_header_may_look_like_a_table(tmp_path: Path) -> None:
    headers = loaded(tmp_path, "", {"JPO_PROMETHEUS__HEADERS__X-API-KEY": "{x"}).values.prometheus.headers
    assert headers["x-api-key"].get_secret_value() == "{x"


def test_the_preference_alone_comes_from_the_environment_too(tmp_path: Path) -> None:
    found = loaded(tmp_path, NIGHT, {"JPO_PREFERENCE": "cost"})
    assert found.values.preference.cost == 1.0
    assert str(found.origins["preference"]) == "environment JPO_PREFERENCE"


def test_targets_to_be_written_must_not_contradict_the_other_settings(tmp_path: Path) -> None:
    settings = loaded(tmp_path, "[parameters]\nmemory_gib = { min = 64 }\n[sla]\nmemory_max_gib = 128\n")
    allow(settings, {"memory_max_gib": 12}, replace_old=False, file=tmp_path / "jpo.toml")
    with pytest.raises(UsageError, match="memory_max_gib = 12, but") as caught:
        allow(settings, {"memory_max_gib": 12}, replace_old=True, file=tmp_path / "jpo.toml")
    assert caught.value.place.startswith(str(tmp_path / "jpo.toml"))


def test_targets_of_pyproject_are_promised_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.jpo.sla]\ntime_max = "6h"\n')
    assert promised_elsewhere(loaded(tmp_path, "[sla]\ncost_max = 3\n")) == {"time_max": 21600.0}


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://ci:hunter2@host:9090/prom?token=hunter2#hunter2", "https://host:9090/prom"),
        ("ci:hunter2@host", "host"),
        ("https://host/?name=a@hunter2", "https://..."),
        ("https://ci:hunt?er2@host", "https://..."),
        ("https://host", "https://host"),
    ],
)
def test_an_address_is_shown_without_what_may_be_a_secret(url: str, shown: str) -> None:
    assert without_credentials(url) == shown


def test_logs_at_the_root_and_beside_config_ini_are_found_unless_settings_name_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(".git").mkdir()
    Path("jpo.toml").touch()
    assert load(Path("a/config.ini"), None, {}, {}).csv_logs == ()
    for folder in ("runs", "a/runs"):
        Path(folder).mkdir(parents=True)
    found = load(Path("a/config.ini"), None, {}, {})
    assert (found.values.csv.logs, found.said_by("csv.logs")) == (("runs/*.csv", "a/runs/*.csv"), "built in")
    Path("jpo.toml").write_text('[csv]\nlogs = ["elsewhere/*.csv"]\n')
    assert load(Path("a/config.ini"), None, {}, {}).values.csv.logs == ("elsewhere/*.csv",)


def test_a_link_of_the_branch_leads_to_no_logs_outside_of_the_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "secrets").mkdir()
    (tmp_path / "project" / "kept").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "project")
    Path(".git").mkdir()
    Path("runs").symlink_to("../secrets")
    assert load(Path("config.ini"), None, {}, {}).csv_logs == ()
    Path("runs").unlink()
    Path("runs").symlink_to("kept")
    assert load(Path("config.ini"), None, {}, {}).values.csv.logs == ("runs/*.csv",)
