"""`jpo suggest` whose store is on a server: it goes away at the worst instants, and others use it, too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from jpo.commands import suggest
from jpo.history import open_store, verify
from jpo.learning.serving import AGENT
from jpo.project import record

if TYPE_CHECKING:
    from types import ModuleType

    from user_project import Project

STEPS = [(suggest, "propose", "batch_size = 16", 5), (record, "write", "batch_size = 64", 0)]
"""Step of the story in front of which the session ends -> what config.ini says afterwards, and the exit code.

Once config.ini is written, the command has done what it was asked to: it ends with 0, and says what the history was not told.
"""


@pytest.mark.parametrize("ending", STEPS)
def test_config_ini_is_untouched_or_its_new_values_are_on_record(
    project: Project, postgres: Any, monkeypatch: pytest.MonkeyPatch, ending: tuple[ModuleType, str, str, int]
) -> None:
    place, step, value, code = ending
    url = postgres.new_database()
    monkeypatch.setenv("JPO_STORE__URL", url)
    go_on = getattr(place, step)
    sessions = "FROM pg_stat_activity WHERE application_name = 'jpo' AND datname = current_database()"

    def after_the_end_of_the_session(*told: Any, **named: Any) -> Any:
        postgres.sql(f"SELECT pg_terminate_backend(pid) {sessions}", url.partition("@/")[2].partition("?")[0])
        return go_on(*told, **named)

    monkeypatch.setattr(place, step, after_the_end_of_the_session)
    answer = project.jpo("suggest", "config.ini", "--explore", "off", "--no-learn")
    assert (answer.code, "JPO-E513" in answer.err, value in project.config.read_text()) == (code, code == 5, True)
    assert ("the history could not be told" in " ".join(answer.out.split())) == (code == 0)
    with open_store(url) as store:
        (*_, last) = store.audit_records()
        assert (last.kind == "suggested", verify(store).ok) == (value == "batch_size = 64", True)


@pytest.mark.usefixtures("learning")
def test_who_learnt_first_is_not_overwritten_and_the_other_suggests_all_the_same(
    project: Project, postgres: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch")
    url = postgres.new_database()
    monkeypatch.setenv("JPO_STORE__URL", url)

    def while_another_saves(_: object) -> bytes:
        with open_store(url) as other:
            other.save_agent(AGENT, b"the other's", expected_version=0)
        return b"ours"

    monkeypatch.setattr("jpo.agent.sac.checkpoint.save_checkpoint", while_another_saves)
    answer = project.jpo("suggest", "config.ini", "--explore", "off", "-o", "json")
    assert (answer.code, "JPO-W605" in answer.err) == (0, True)
    with open_store(url) as store:
        assert store.load_agent(AGENT) == (b"the other's", 1)
        assert "learnt" not in [record.kind for record in store.audit_records()]
