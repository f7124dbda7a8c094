"""Where the reading of a server goes on: each address has a watermark of its own."""

from __future__ import annotations

import pytest

from jpo.history.runs import Reading
from jpo.http.endpoint import Endpoint
from jpo.project.watermarks import LOOK_AGAIN_SECONDS, bookmark, recent, source_of
from jpo.records import codes_of
from jpo.telemetry.prometheus.names import Names

PROD, STAGING = Endpoint("http://prod:9090"), Endpoint("http://staging:9090")


@pytest.mark.parametrize(
    "url", ["http://prod:9090", "http://prod:9090/", "http://PROD:9090", "http://me:secret@prod:9090", "HTTP://other@Prod:9090//"]
)
def test_one_server_is_one_source_whoever_asks(url: str) -> None:
    assert source_of(Endpoint(url), Names()) == "prometheus http://prod:9090"


@pytest.mark.parametrize(("url", "same"), [("http://prod:80", "http://prod"), ("https://prod:443/x", "https://prod/x")])
def test_the_usual_port_may_be_left_out(url: str, same: str) -> None:
    assert source_of(Endpoint(url), Names()) == f"prometheus {same}"


def test_neither_credentials_nor_timeouts_make_another_source() -> None:
    other = Endpoint("http://prod:9090", 3.0, bearer_token="hidden", headers={"X-Api-Key": "hidden"})
    assert source_of(other, Names.of({"gpu_memory_mib": "mem"}, {"pod": "k8s_pod"}, None, {"epochs": "e"})) == source_of(
        PROD, Names()
    )


@pytest.mark.parametrize(
    ("server", "names"),
    [
        (STAGING, Names()),
        (Endpoint("https://prod:9090"), Names()),
        (Endpoint("http://prod:9090/team"), Names()),
        (Endpoint("http://[::1]:9090"), Names()),
        (Endpoint("http://prod:9090", headers={"x-scope-orgid": "ml"}), Names()),
        (PROD, Names.of({"jpo_run_info": "info"}, {})),
        (PROD, Names.of({}, {"run_id": "job_id"})),
        (PROD, Names.of({}, {}, None, {"dataset": "app"})),
    ],
)
def test_what_selects_other_runs_is_another_source(server: Endpoint, names: Names) -> None:
    assert source_of(server, names) != source_of(PROD, Names())
    assert "ml" not in source_of(server, names).replace("http", "")


def test_a_server_goes_on_where_it_was_left() -> None:
    mark = bookmark({"prometheus http://prod:9090": Reading(7.0, {"r": 1.0}), "csv": Reading(9.0, {})}, PROD, Names())
    assert (mark.watermark, mark.passed_over, mark.takes_over, mark.notes) == (7.0, {"r": 1.0}, None, ())


def test_another_address_is_read_from_its_start_and_the_report_says_so() -> None:
    mark = bookmark({"prometheus http://prod:9090": Reading(7.0, {"r": 1.0})}, STAGING, Names())
    assert (mark.watermark, mark.passed_over, mark.takes_over) == (None, {}, None)
    (note,) = mark.notes
    assert (note.code, "http://staging:9090 was not read before" in note.text) == ("JPO-I121", True)


def test_a_watermark_without_an_address_is_taken_over_with_a_word() -> None:
    mark = bookmark({"prometheus": Reading(7.0, {})}, PROD, Names())
    assert (mark.source, mark.watermark, mark.takes_over) == ("prometheus http://prod:9090", 7.0, "prometheus")
    assert codes_of(mark.notes) == ("JPO-I120",)


@pytest.mark.parametrize("readings", [{}, {"csv": Reading(1.0, {})}])
def test_first_contact_needs_no_word(readings: dict[str, Reading]) -> None:
    assert bookmark(readings, PROD, Names()).notes == ()


def test_what_was_passed_over_is_looked_at_once_a_day() -> None:
    assert recent({"new": 10.0, "old": 10.0 - LOOK_AGAIN_SECONDS}, 10.0) == {"new": 10.0}
