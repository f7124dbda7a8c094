"""Names of objects: valid for every run id, and another one for each."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jpo.plugins.launch.engines.kubernetes.manifest import RUN_ID as JPO_RUN_ID
from jpo.plugins.launch.engines.kubernetes.manifest import object_name, parameter_notes, pod_labels, run_labels
from jpo.plugins.launch.job import RUN_ID
from jpo.records import Identity, Word
from jpo.wording.slug import LABEL_VALUE

DNS_1123 = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
RUN_IDS = st.from_regex(RUN_ID, fullmatch=True)


@given(RUN_IDS)
def test_every_run_id_makes_a_name_with_room_for_a_pods_index(run_id: str) -> None:
    assert DNS_1123.fullmatch(object_name(run_id))
    assert len(object_name(run_id) + "-9999999999") <= 63


@given(st.lists(RUN_IDS, min_size=2, max_size=20, unique=True))
def test_two_run_ids_have_two_names(run_ids: list[str]) -> None:
    assert len({object_name(run_id) for run_id in run_ids}) == len(run_ids)


@pytest.mark.parametrize("others", [("Night.1", "night.1", "night-1"), ("x" * 60, "x" * 61), ("a-", "a--", "a.")])
def test_ids_that_differ_in_capitals_signs_or_length_alone_have_names_of_their_own(others: tuple[str, ...]) -> None:
    assert len({object_name(run_id) for run_id in others}) == len(others)


def test_a_plain_id_is_read_in_the_name() -> None:
    assert object_name("night-17") == "jpo-night-17"


@given(RUN_IDS)
def test_every_run_id_has_a_label(run_id: str) -> None:
    assert LABEL_VALUE.fullmatch(run_labels(run_id)[JPO_RUN_ID])


def test_labels_of_any_identity_are_labels() -> None:
    labels = pod_labels("night-1", Identity("/data/数据/" + "x" * 80, "meta-llama/Llama-2 7B", "pytorch", "g5.xlarge"))
    assert all(LABEL_VALUE.fullmatch(value) for value in labels.values())
    assert labels["jpo-model"] == "meta-llama-llama-2-7b"
    assert labels["jpo-hardware"] == "g5-xlarge"
    assert labels["app.kubernetes.io/managed-by"] == "jpo"


def test_parameters_that_no_label_holds_are_annotations() -> None:
    labels, annotations = parameter_notes({"batch_size": 64.0, "learning_rate": 1e-05, "shift": -1.0, "optimizer": Word("adam")})
    assert labels == {"jpo-batch-size": "64", "jpo-learning-rate": "1e-05", "jpo-optimizer": "adam"}
    assert annotations == {"jpo-shift": "-1"}
