from __future__ import annotations

import pytest

from jpo.errors import UsageError
from jpo.plugins.phases.extra import need


def test_a_missing_package_is_named_with_the_command_that_installs_it() -> None:
    need("a fit", "sklearn")
    with pytest.raises(UsageError, match=r'a fit needs no_such_package.*pip install "jpo\[phases\]"'):
        need("a fit", "no_such_package")
