"""What labels and annotations of a pod say: which workload it trains, under which run id, and with which parameters.

A Kubernetes label holds at most 63 characters of [A-Za-z0-9._-], so that a path or `org/model` cannot be one: names are compared
by their slugs. Annotations are free text, and say parameters alone.
"""

import re
from collections.abc import Mapping

from jpo.records import COUNTS, PARAMETERS, Identity
from jpo.telemetry.prometheus import queries
from jpo.telemetry.prometheus.names import Names
from jpo.wording.slug import slug as slug

AND = " and "
"""Between the values of a label that was changed; no value of a label has blanks."""
CONFLICT = "_conflict"
"""kube-state-metrics' suffix (1, 2 ...) where two labels of a pod get one name."""


def selector(identity: Identity, names: Names) -> str:
    """The selector of a workload's pods: its hardware only where config.ini names it."""
    # A label may write what the slug separates as - or . or _, in any number.
    patterns = {role: "[-._]+".join(map(re.escape, slug(value).split("-"))) for role, value in identity.labels.items()}
    matchers = (f"{names.pod_label(role)}=~{queries.quoted('(?i)' + pattern)}" for role, pattern in patterns.items())
    return "{" + ",".join(matchers) + "}"


def is_of(identity: Identity, labels: Mapping[str, str], names: Names) -> bool:
    return all(slug(labels.get(names.pod_label(role), "")) == slug(value) for role, value in identity.labels.items())


def run_id(labels: Mapping[str, str], names: Names) -> str | None:
    return labels.get(names.pod_label("run_id")) or None


def parameters(labels: Mapping[str, str], names: Names) -> dict[str, str]:
    """The parameters, those of the team's own too, that labels, else annotations, of a pod say, as text."""
    said = {}
    for name in (*PARAMETERS, *COUNTS, *names.own.parameters):
        label = names.pod_label(name)
        candidates = (label,) if name in names.site_pod_labels else (label, label.replace("label", "annotation", 1))
        if value := next(filter(None, (_value(labels, candidate) for candidate in candidates)), None):
            said[name] = value.strip()
    return said


def add(labels: Mapping[str, str], known: dict[str, str]) -> None:
    """Add what another series of a pod says. Of a label that was changed while the pod ran both values stay, which no parameter
    can have: it is not known with which one it was started."""
    for name, text in labels.items():
        texts = known.get(name, text).split(AND)
        known[name] = AND.join(sorted({*texts, text}))


def _value(labels: Mapping[str, str], label: str) -> str | None:
    """The value of a label; of labels that kube-state-metrics had to number, the one on which all agree."""
    if label in labels:
        return labels[label]
    numbered = {value for name, value in labels.items() if re.fullmatch(re.escape(label + CONFLICT) + r"\d+", name)}
    return numbered.pop() if len(numbered) == 1 else None
