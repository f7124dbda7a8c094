from __future__ import annotations

import pytest

from jpo.errors import LaunchError
from jpo.plugins.launch.engines.aws.offers import Attempt, kind_of, quota_of

KINDS = {"g5.xlarge": "g", "g4dn.xlarge": "g", "g6e.xlarge": "g", "gr6.4xlarge": "g", "p4d.24xlarge": "p", "p5.48xlarge": "p"}
KINDS |= {"m5.xlarge": "standard", "c7i.large": "standard", "t3.micro": "standard", "im4gn.large": "standard"}


@pytest.mark.parametrize(("instance_type", "kind"), KINDS.items())
def test_families_share_quotas(instance_type: str, kind: str) -> None:
    assert kind_of(instance_type) == kind


@pytest.mark.parametrize(
    "instance_type", ["inf2.xlarge", "trn1.2xlarge", "dl1.24xlarge", "hpc7a.96xlarge", "x2idn.16xlarge", "", "u-6tb1"]
)
def test_the_quota_of_others_is_unknown(instance_type: str) -> None:
    assert kind_of(instance_type) is None


class Asked:
    def __init__(self, answer: object) -> None:
        self.answer, self.code = answer, ""

    def get_service_quota(self, ServiceCode: str, QuotaCode: str) -> object:  # noqa: N803 - AWS' names
        self.code = QuotaCode
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def test_a_quota_is_that_of_kind_and_market() -> None:
    pytest.importorskip("boto3")
    asked = Asked({"Quota": {"Value": 8.0}})
    quota = quota_of(asked, Attempt("g5.xlarge", spot=True, where="us-east-1"))
    assert asked.code == "L-3819A6DF"
    assert str(quota) == "quota of G and VT instances, spot: 8 vCPUs"


@pytest.mark.parametrize(
    "answer", [{}, {"Quota": {"Value": "many"}}, {"Quota": None}, LaunchError("AWS", "no", "x", code="JPO-E766")]
)
def test_what_aws_does_not_say_is_unknown(answer: object) -> None:
    pytest.importorskip("boto3")
    assert quota_of(Asked(answer), Attempt("g5.xlarge", spot=False, where="us-east-1")) is None
    assert quota_of(Asked(answer), Attempt("p5.48xlarge", spot=True, where="us-east-1")) is None
