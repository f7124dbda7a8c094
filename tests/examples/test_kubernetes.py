"""examples/kubernetes: valid by Kubernetes' own schemas, and the rights are those that a run uses: no fewer, no more."""

from __future__ import annotations

from pathlib import Path

import kubernetes_validate
import pytest
import yaml

FOLDER = Path(__file__).parents[2] / "examples" / "kubernetes"
DOCUMENTS = {name: [*yaml.safe_load_all((FOLDER / name).read_text("utf-8"))] for name in ("job.yaml", "rbac.yaml")}


@pytest.mark.parametrize("version", ["1.33", "1.37"])
@pytest.mark.parametrize("name", sorted(DOCUMENTS))
def test_every_document_is_what_kubernetes_expects(name: str, version: str) -> None:
    for each in DOCUMENTS[name]:
        kubernetes_validate.validate(each, version, strict=True)
