from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from jpo.errors import UsageError
from jpo.plugins.phases.features import Scaler
from jpo.plugins.phases.fit import FitOptions, fit_phases
from jpo.plugins.phases.methods.crbm import Crbm, CrbmOptions, crbm_of, nearest
from jpo.plugins.phases.methods.labels import phases_of
from jpo.plugins.phases.model import PhaseModel
from jpo.plugins.phases.model_file import SCHEMA, encoded, read_model, sealed
from jpo.plugins.phases.parts import (
    CRBM,
    SCALER,
    Parts,
    clusters_of,
    encoded_part,
    parts_of,
    read_clusters,
    read_crbm,
    read_scaler,
)
from jpo.plugins.phases.traces import Floats, Traces


@pytest.fixture(scope="module")
def fitted(traces: Traces) -> PhaseModel:
    return fit_phases(traces, FitOptions("crbm-kmeans", crbm=CrbmOptions(epochs=5)))


def parts(fitted: PhaseModel) -> tuple[Scaler, Crbm, Floats]:
    crbm, clusters = crbm_of(fitted.weights), clusters_of(fitted.weights)
    assert crbm is not None
    assert clusters is not None
    return fitted.scaler, crbm, clusters


def test_parts_that_were_saved_one_by_one_label_as_the_model_does(fitted: PhaseModel, traces: Traces, tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("scaler", "crbm", "clusters")]
    for path, part in zip(paths, parts(fitted), strict=True):
        path.write_bytes(encoded_part(part))
    scaler, crbm, clusters = read_scaler(paths[0]), read_crbm(paths[1]), read_clusters(paths[2])
    scaled = scaler.transform(traces.stacked)
    assert (scaled == fitted.scaler.transform(traces.stacked)).all()
    labels = nearest(crbm.activations(scaled, traces.lengths, parity=True), clusters)
    assert (labels == phases_of(fitted, traces, parity=True)).all()
    again = (scaler, crbm, clusters)
    assert [encoded_part(part) for part in again] == [encoded_part(part) for part in parts(fitted)]


def test_each_reads_its_own_kind_alone(fitted: PhaseModel, tmp_path: Path) -> None:
    files = [encoded(fitted), *map(encoded_part, parts(fitted))]
    for at, read in enumerate((read_model, read_scaler, read_crbm, read_clusters)):
        for other, data in enumerate(files):
            path = tmp_path / f"{at}-{other}"
            path.write_bytes(data)
            if at == other:
                read(path)
                continue
            with pytest.raises(UsageError, match=r"is not a .* of jpo phases") as refused:
                read(path)
            assert refused.value.code == "JPO-E732"


@pytest.mark.parametrize("cut", [0, 30, 95, -1])
def test_a_part_cut_short_is_refused(cut: int, fitted: PhaseModel, tmp_path: Path) -> None:
    path = tmp_path / "part"
    path.write_bytes(encoded_part(fitted.scaler)[:cut])
    with pytest.raises(UsageError, match="part"):
        read_scaler(path)


def test_a_forged_part_is_refused(fitted: PhaseModel, tmp_path: Path) -> None:
    _, crbm, _ = parts(fitted)
    path = tmp_path / "part"
    bad = {**crbm.arrays(), "method.crbm.hidden_bias": np.ones(3)}
    path.write_bytes(sealed({"format": CRBM, "schema": SCHEMA}, bad))
    with pytest.raises(UsageError, match="do not go together"):
        read_crbm(path)
    head = {"format": SCALER, "schema": SCHEMA, "features": ["a"], "kept": [0], "left_out": []}
    path.write_bytes(sealed(head, {"scaler.centre": np.zeros(1), "scaler.scale": np.array([np.nan])}))
    with pytest.raises(UsageError, match="not finite"):
        read_scaler(path)


def test_a_fit_that_takes_over_all_parts_is_the_model_that_they_are_of(fitted: PhaseModel, traces: Traces) -> None:
    again = fit_phases(traces, FitOptions("crbm-kmeans", parts=parts_of(fitted)))
    assert encoded(again) == encoded(fitted)


def test_a_scaler_alone_serves_any_method_and_other_traces(fitted: PhaseModel, traces: Traces) -> None:
    few = replace(traces, executions=traces.executions[:2])
    taken = fit_phases(few, FitOptions(parts=Parts(fitted.scaler)))
    assert taken.scaler is fitted.scaler
    assert (fit_phases(few).scaler.centre != fitted.scaler.centre).any()


def test_clusters_without_a_sample_are_no_phases(fitted: PhaseModel, traces: Traces) -> None:
    scaler, crbm, clusters = parts(fitted)
    more = np.insert(clusters, 1, 9.0, axis=0)
    model = fit_phases(traces, FitOptions("crbm-kmeans", parts=Parts(scaler, crbm, more)))
    assert model.chain.phases == fitted.chain.phases
    assert (phases_of(model, traces) == phases_of(fitted, traces)).all()


@pytest.mark.parametrize(
    ("given", "finding"),
    [
        (("clusters",), "none is named"),
        (("crbm",), "no scaler is named"),
        (("narrow", "crbm"), "sees 2 features, and the scaler keeps 1"),
        (("scaler", "crbm", "few"), "of 3 hidden units, and the machine has 10"),
    ],
)
def test_parts_that_do_not_go_together_are_refused(given: tuple[str, ...], finding: str, fitted: PhaseModel) -> None:
    scaler, crbm, clusters = parts(fitted)
    narrow = Scaler(scaler.names, (0,), scaler.centre[:1], scaler.scale[:1])
    known = {"scaler": scaler, "narrow": narrow, "crbm": crbm, "clusters": clusters, "few": clusters[:, :3]}
    places = {"narrow": "scaler", "few": "clusters"}
    with pytest.raises(UsageError, match=finding):
        Parts(**{places.get(name, name): known[name] for name in given})  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="not a part of the method markov"):
        FitOptions(parts=Parts(scaler, crbm))
