"""A config.ini for tests of its reader, and what the reader says of one that it refuses."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from jpo.errors import UsageError
from jpo.records import Workload

Read = Callable[..., Workload]

JOB = b"[workload]\ndataset = cifar10\nmodel = resnet18\nframework = pytorch\n"
CONFIG = JOB + b"[training]\nbatch_size = 32\nlr = 1e-1 # warm\n[resources]\nmemory = 16Gi\ncpus = 4\n"


def message(read: Read, data: bytes, **options: object) -> str:
    with pytest.raises(UsageError) as error:
        read(data, **options)
    assert error.value.exit_code == 2
    return str(error.value).replace(error.value.place.split(":")[0], "…/" + error.value.place.split(":")[0].rsplit("/", 1)[-1])
