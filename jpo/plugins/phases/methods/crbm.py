"""Phases as AI4DL finds them: k-means on the hidden units of a conditional restricted Boltzmann machine. Training needs torch.

The machine says how likely a sample is after those before it; its hidden units stand for what goes on. Unlike AI4DL's, history
before the first sample is the first sample (zeros would be a phase of their own), a label is that of its own sample (not of the
one before), updates are those of mini-batches, training stops when it no longer helps, and the weights are plain arrays.

Sources: Taylor, Hinton and Roweis, "Modeling Human Motion Using Binary Latent Variables", NIPS 2006; Berral, Wang and Youssef,
"AI4DL: Mining Behaviors of Deep Learning Workloads for Resource Management", HotCloud 2020.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from jpo.plugins.phases.chain import Ints
from jpo.plugins.phases.extra import need
from jpo.plugins.phases.traces import Floats
from jpo.records import Track, silently

NAMES = ("hidden_visible", "visible_history", "hidden_history", "visible_bias", "hidden_bias")
PREFIX = "method.crbm."
CENTRES = "method.centres"
FIRST_SCALE = 0.2
"""Of random weights, over the number of inputs."""
MOMENTUM = 0.9
HELPS = 0.01
"""Fall of the error on samples held out that is worth another epoch, as a share of their noise: what is finer is not the job."""
HELD_OUT = 10
"""Of so many samples one is held out of training, to see when to stop."""


@dataclass(frozen=True, slots=True)
class CrbmOptions:
    """Options of a conditional restricted Boltzmann machine.

    Attributes:
        history: samples before the one that is seen.
        hidden: hidden units.
        learning_rate: of stochastic gradient descent with momentum.
        epochs: at most.
        batch: samples of an update.
        patience: epochs without help, on samples held out, after which training stops.
        seed: of weights and batches.
    """

    history: int = 3
    hidden: int = 10
    learning_rate: float = 0.01
    epochs: int = 100
    batch: int = 256
    patience: int = 3
    seed: int = 0


@dataclass(frozen=True, eq=False, slots=True)
class Crbm:
    """A trained machine of d visible and n hidden units, with a history of t samples.

    `hidden_visible`: shape (n, d). visible_history: shape (d, t * d). hidden_history: shape (n, t * d). `visible_bias`,
    `hidden_bias`: shapes (d,) and (n,).
    """

    hidden_visible: Floats
    visible_history: Floats
    hidden_history: Floats
    visible_bias: Floats
    hidden_bias: Floats

    @property
    def history(self) -> int:
        return int(self.hidden_history.shape[1] // self.hidden_visible.shape[1])

    def activations(self, scaled: Floats, lengths: Sequence[int], *, parity: bool = False) -> Floats:
        """Probabilities of the hidden units for each sample, shape (samples, n).

        `parity`: as AI4DL has them: 0 for the first samples, then those of the sample before.
        """
        history = _history(scaled, lengths, self.history)
        drive = scaled @ self.hidden_visible.T + history @ self.hidden_history.T + self.hidden_bias
        found: Floats = 1 / (1 + np.exp(-np.clip(drive, -60, 60)))
        if not parity:
            return found
        parts = np.split(found, np.cumsum(lengths)[:-1])
        t = self.history
        return np.concatenate([np.vstack([np.zeros_like(part[: t + 1]), part[t:-1]])[: len(part)] for part in parts])

    def arrays(self) -> Mapping[str, Floats]:
        return {PREFIX + name: getattr(self, name) for name in NAMES}


def crbm_of(weights: Mapping[str, Floats]) -> Crbm | None:
    """The machine in a model's weights; None where its shapes do not go together, or there is none."""
    if any(PREFIX + name not in weights for name in NAMES):
        return None
    crbm = Crbm(*(weights[PREFIX + name] for name in NAMES))
    if crbm.hidden_visible.ndim != 2:
        return None
    n, d = crbm.hidden_visible.shape
    wide = crbm.hidden_history.shape[-1]
    shapes = ((n, d), (d, wide), (n, wide), (d,), (n,))
    fits = all(getattr(crbm, name).shape == shape for name, shape in zip(NAMES, shapes, strict=True))
    return crbm if fits and d > 0 and wide >= d and wide % d == 0 else None


def train_crbm(scaled: Floats, lengths: Sequence[int], options: CrbmOptions, track: Track = silently) -> tuple[Crbm, list[float]]:
    """A machine by contrastive divergence, and its error of reconstruction on samples held out after each epoch.

    Raises UsageError: JPO-E733, torch is not installed.
    """
    need("the method crbm-kmeans", "torch")
    import torch

    d, wide = scaled.shape[1], options.history * scaled.shape[1]
    generator = torch.Generator().manual_seed(options.seed)
    visible = torch.from_numpy(scaled.astype(np.float32))
    history = torch.from_numpy(_history(scaled, lengths, options.history).astype(np.float32))
    shapes = ((options.hidden, d), (d, wide), (options.hidden, wide))
    w, a, b = (FIRST_SCALE / wide * torch.randn(shape, generator=generator) for shape in shapes)
    v_bias, h_bias = torch.zeros(d), torch.zeros(options.hidden)
    weights = (w, a, b, v_bias, h_bias)
    velocities = tuple(torch.zeros_like(weight) for weight in weights)
    errors: list[float] = []
    order = torch.randperm(len(visible), generator=generator)
    tests, trained_on = order[: len(order) // HELD_OUT], order[len(order) // HELD_OUT :]
    tests = tests if len(tests) else trained_on  # of a handful of samples
    noise = float((visible - history[:, -d:])[tests].square().sum(1).mean()) / 2  # two samples in a row have noise each
    with torch.no_grad():
        for _ in track(range(options.epochs), "epochs"):
            shuffled = trained_on[torch.randperm(len(trained_on), generator=generator)]
            for rows in torch.split(shuffled, options.batch):
                v, past, share = visible[rows], history[rows], 1 / len(rows)
                from_past = torch.addmm(h_bias, past, b.T)
                h = torch.sigmoid(from_past + v @ w.T)
                v_model = torch.addmm(v_bias, past, a.T) + h @ w
                h_model = torch.sigmoid(from_past + v_model @ w.T)
                dv, dh = v - v_model, h - h_model
                gradients = (h.T @ v - h_model.T @ v_model, dv.T @ past, dh.T @ past, dv.sum(0), dh.sum(0))
                for weight, velocity, gradient in zip(weights, velocities, gradients, strict=True):
                    velocity.mul_(MOMENTUM).add_(gradient, alpha=options.learning_rate * share)
                    weight.add_(velocity)
            v, past = visible[tests], history[tests]
            h = torch.sigmoid(torch.addmm(h_bias, past, b.T) + v @ w.T)
            errors.append(float((v - torch.addmm(v_bias, past, a.T) - h @ w).square().sum(1).mean()))
            before = errors[: -options.patience]
            if before and min(errors[-options.patience :]) > min(before) - HELPS * noise:
                break
    return Crbm(*(weight.numpy().astype(np.float64) for weight in weights)), errors


def cluster(activations: Floats, n_phases: int, seed: int) -> tuple[Ints, Floats]:
    """Phases of the samples, shape (samples,), and the centres of the hidden units, shape (k, n)."""
    from sklearn.cluster import KMeans  # type: ignore[import-untyped]

    k = min(n_phases, len(np.unique(np.round(activations, 9), axis=0)))
    found = KMeans(k, n_init=3, random_state=seed).fit(activations)
    order = np.argsort([np.flatnonzero(found.labels_ == phase)[0] for phase in range(k)])
    centres: Floats = found.cluster_centers_[order]
    return nearest(activations, centres), centres


def nearest(activations: Floats, centres: Floats) -> Ints:
    """The centre next to each sample, shape (samples,)."""
    distances = (activations**2).sum(1)[:, None] - 2 * activations @ centres.T + (centres**2).sum(1)
    phases: Ints = distances.argmin(1)
    return phases


def _history(scaled: Floats, lengths: Sequence[int], t: int) -> Floats:
    """The t samples before each one, the oldest first, shape (samples, t * d); before the first one stands the first one."""
    first = np.repeat(np.cumsum([0, *lengths])[:-1], lengths)
    rows = np.arange(len(scaled))
    return np.concatenate([scaled[np.maximum(rows - back, first)] for back in range(t, 0, -1)], axis=1)
