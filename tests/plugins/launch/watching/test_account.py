import threading
import time
from contextlib import nullcontext
from dataclasses import replace

import pytest

from jpo.errors import LaunchError
from jpo.history import open_store
from jpo.plugins.launch.during.adjustment import Adjustment, Saving
from jpo.plugins.launch.watching import account
from jpo.records import Identity

STOP = Adjustment(100.0, "why", wins=0.0, expected=Saving(500.0, None))


def test_what_was_decided_is_read_back(tmp_path):
    done = replace(STOP, applied=True, actual=Saving(400.0, 1.0), right=True)
    with account.deciding(tmp_path, "night-1") as adjustments:
        adjustments += [STOP, done]
    assert account.read(tmp_path, "night-1") == [STOP, done]


def test_of_a_run_without_decisions_there_is_no_file(tmp_path):
    with account.deciding(tmp_path, "night-1") as adjustments:
        assert adjustments == []
    assert [*tmp_path.rglob("*.json")] == []


def test_one_decides_at_a_time(tmp_path):
    seen = []

    def watcher():
        with account.deciding(tmp_path, "night-1") as adjustments:
            seen.append(len(adjustments))
            time.sleep(0.05)
            adjustments.append(STOP)

    watchers = [threading.Thread(target=watcher) for _ in range(4)]
    for each in watchers:
        each.start()
    for each in watchers:
        each.join()
    assert sorted(seen) == [0, 1, 2, 3]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"adjustments": [{"at": 1}]}', '{"adjustments": [3]}'])
def test_what_is_damaged_is_said_and_not_overwritten(tmp_path, text):
    with account.deciding(tmp_path, "night-1") as adjustments:
        adjustments.append(STOP)
    (file,) = tmp_path.rglob(account.FILE)
    file.write_text(text)
    with pytest.raises(LaunchError) as error, account.deciding(tmp_path, "night-1"):
        pass
    assert error.value.code == "JPO-E782"
    assert file.read_text() == text


def test_decisions_go_on_the_audit_log_with_their_run_once():
    identity = Identity("d", "m", "f")
    with open_store("sqlite://") as store:
        for made in ([STOP], [STOP], [STOP, replace(STOP, at=100.1)]):  # who put it there was killed before he noted so
            account.put_on_audit_log("night-1", identity, made, lambda: nullcontext(store), kind=account.MADE, now=5.0)
        account.put_on_audit_log("night-2", identity, [STOP], lambda: nullcontext(store), kind=account.MADE, now=5.0)
        event, *others = store.audit_records()
    assert [(each.data["run_id"], each.data["at"]) for each in others] == [("night-1", 100.1), ("night-2", 100.0)]
    assert (event.kind, event.at, event.data["run_id"], event.data["kind"]) == ("adjusted", 5.0, "night-1", "stop")
