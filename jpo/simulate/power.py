"""Electric power of an accelerator: an idle share, a rise with its utilisation, and a power limit."""

import numpy as np

from jpo.records import Floats
from jpo.simulate.knobs import Knobs
from jpo.simulate.latents import Latents


def log_power(log_busy: Floats, latents: Latents) -> Floats:
    """Natural log of the power as a share of full power: idle + (1 - idle) busy^bend, shape (J, K).

    Assumed ranges: idle ~ U(0.2, 0.7), bend ~ U(0.3, 1); one draw per job, because a job keeps its kind of accelerator.
    `log_busy`: shape (J, K) or (1, K), natural log of the busy share, at most 0. What is not busy at all draws `idle`. The
    result has shape (J, K), in ln(idle)..0. Not yet relative to today's column.

    Source: Fan, Weber and Barroso, "Power Provisioning for a Warehouse-sized Computer", ISCA 2007, section 3 (idle share plus a
    concave term in utilisation); You et al., "Zeus", NSDI 2023 (GPUs: idle power stays a large share).
    """
    idle, bend = latents.uniform("idle power", 0.2, 0.7), latents.uniform("power bend", 0.3, 1.0)
    return np.asarray(np.log(idle + (1 - idle) * np.exp(bend * np.minimum(log_busy, 0.0))))


def under_limit(knobs: Knobs, latents: Latents) -> tuple[Floats, Floats]:
    """Effect of a power limit: natural logs of step time and of power drawn relative to those without one, (J, K) each.

    x = limit / what the job needs, at most 1; speed of the part bound by the clock = ((x - static) / (1 - static))^power: dynamic
    power rises with about the cube of the clock, and a static share comes first. Assumed ranges around a power of 1/3.

    Source: Butts and Sohi, "A Static Power Model for Architects", MICRO 2000; Mudge, "Power: A First-Class Architectural Design
    Constraint", IEEE Computer 2001 (P ~ f V^2, V ~ f).
    """
    if np.ptp(knobs.power_limit) == 0:  # only differences count
        return np.zeros((1, len(knobs.power_limit))), np.zeros((1, len(knobs.power_limit)))
    x = np.minimum(knobs.power_limit / latents.uniform("power needed", 0.5, 1.2), 1.0)
    static = latents.uniform("static power", 0.1, 0.35)
    clock = np.maximum((x - static) / (1 - static), 0.02) ** latents.uniform("clock power", 0.2, 0.4)
    elsewhere = latents.uniform("not bound by the clock", 0.0, 0.4)
    return np.asarray(np.log(elsewhere + (1 - elsewhere) / clock)), np.log(x)
