"""Parts of a fitted model as files of their own: its scaler, AI4DL's machine, and the clusters of the machine's hidden units.

Each is a file like a model's: one hash over JSON and safetensors, every shape and number checked when it is read. Together they
label samples as the method crbm-kmeans does; a scaler serves any method.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from jpo.errors import UsageError
from jpo.plugins.phases.features import Scaler
from jpo.plugins.phases.methods.crbm import CENTRES, Crbm, crbm_of
from jpo.plugins.phases.model import PhaseModel
from jpo.plugins.phases.model_file import (
    SCHEMA,
    Part,
    Unfit,
    decoded_scaler,
    decoded_weights,
    opened,
    scaler_arrays,
    scaler_head,
    sealed,
)
from jpo.plugins.phases.traces import Floats

SCALER, CRBM, CLUSTERS = "jpo phases scaler", "jpo phases crbm", "jpo phases clusters"


@dataclass(frozen=True, eq=False, slots=True)
class Parts:
    """Parts of earlier models with which a fit begins; None: it finds its own.

    `clusters`: centres of hidden units, shape (k, hidden units).

    Raises UsageError: JPO-E734, the clusters' machine is missing, or not of as many hidden units, or sees other features.
    """

    scaler: Scaler | None = None
    crbm: Crbm | None = None
    clusters: Floats | None = None

    def __post_init__(self) -> None:
        if self.crbm is None:
            if self.clusters is not None:
                raise _odd("--clusters", "are of the hidden units of a machine, and none is named", "name it: --crbm FILE")
            return
        hidden, visible = self.crbm.hidden_visible.shape
        if self.scaler is None:
            finding = "has learnt scaled samples, and no scaler is named"
            raise _odd("--crbm", finding, "name the one that it learnt with: --scaler FILE")
        if len(self.scaler.kept) != visible:
            finding = f"sees {visible} features, and the scaler keeps {len(self.scaler.kept)}"
            raise _odd("--crbm", finding, "name the scaler that it learnt with")
        if self.clusters is not None and self.clusters.shape[1] != hidden:
            finding = f"are of {self.clusters.shape[1]} hidden units, and the machine has {hidden}"
            raise _odd("--clusters", finding, "name its own")


def _odd(place: str, finding: str, remedy: str) -> UsageError:
    return UsageError(place, finding, remedy, code="JPO-E734")


def parts_of(model: PhaseModel) -> Parts:
    """The parts of a model; AI4DL's are those of the method crbm-kmeans alone.

    Raises UsageError: JPO-E734, its weights do not go together.
    """
    return Parts(model.scaler, crbm_of(model.weights), clusters_of(model.weights))


def clusters_of(weights: Mapping[str, Floats]) -> Floats | None:
    """The clusters in a model's weights; None where there are none."""
    centres = weights.get(CENTRES)
    return centres if centres is not None and centres.ndim == 2 and centres.size else None


def encoded_part(part: Scaler | Crbm | Floats) -> bytes:
    """The bytes of a part's file; the same part, the same bytes."""
    if isinstance(part, Scaler):
        return sealed({"format": SCALER, "schema": SCHEMA, **scaler_head(part)}, scaler_arrays(part))
    if isinstance(part, Crbm):
        return sealed({"format": CRBM, "schema": SCHEMA}, part.arrays())
    return sealed({"format": CLUSTERS, "schema": SCHEMA}, {CENTRES: part})


def read_scaler(path: Path) -> Scaler:
    """The scaler in a file; JPO-E732 as `read_model` raises it, or where it is no scaler."""
    return opened(path, SCALER, decoded_scaler)


def read_crbm(path: Path) -> Crbm:
    """The machine in a file; JPO-E732 as above."""
    return opened(path, CRBM, lambda _, arrays: _there(crbm_of(decoded_weights(arrays)), "has weights that do not go together"))


def read_clusters(path: Path) -> Floats:
    """The clusters in a file; JPO-E732 as above."""
    return opened(path, CLUSTERS, lambda _, arrays: _there(clusters_of(decoded_weights(arrays)), "has no centres"))


def _there(part: Part | None, finding: str) -> Part:
    if part is None:
        raise Unfit(finding)
    return part
