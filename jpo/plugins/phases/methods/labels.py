"""Phases of whole executions by a fitted model, each method in its own way."""

import numpy as np

from jpo.errors import UsageError
from jpo.plugins.phases.chain import Ints
from jpo.plugins.phases.methods.changepoint import levelled
from jpo.plugins.phases.methods.crbm import CENTRES, crbm_of, nearest
from jpo.plugins.phases.model import PhaseModel
from jpo.plugins.phases.traces import Traces


def phases_of(model: PhaseModel, traces: Traces, *, parity: bool = False) -> Ints:
    """The phase of each sample, shape (samples,).

    `parity`: as AI4DL shows them from the same weights: its first samples without any, the others one sample late.

    Raises UsageError: JPO-E734, parity of a method that AI4DL does not have; JPO-E732, the weights of the model do not go
    together; JPO-E733, a package is not installed.
    """
    if parity and model.method != "crbm-kmeans":
        raise UsageError("--parity", f"the model is by {model.method}", "fit one with --method crbm-kmeans", code="JPO-E734")
    if model.method not in ("changepoint", "crbm-kmeans"):
        return model.predict(traces)
    scaled = model.scaler.transform(traces.narrowed(model.scaler.names).stacked)
    if model.method == "changepoint":
        return nearest(levelled(scaled, traces.lengths), model.chain.means)
    crbm, centres = crbm_of(model.weights), model.weights.get(CENTRES)
    known = crbm is not None and centres is not None and crbm.hidden_visible.shape[1] == scaled.shape[1]
    if crbm is None or centres is None or not known or centres.shape != (model.chain.phases, len(crbm.hidden_bias)):
        finding = "is of the method crbm-kmeans, and its weights do not go together"
        raise UsageError("model", finding, "make it anew: jpo phases fit TRACES.csv -o MODEL", code="JPO-E732")
    return nearest(np.asarray(crbm.activations(scaled, traces.lengths, parity=parity)), centres)
