"""Who keeps the limits of runs on this machine, for `jpo doctor`."""

import os
from collections.abc import Iterator

from jpo.commands.doctor.case import Case
from jpo.plugins.launch.engines.local.cgroup import HERE, delegated
from jpo.report.doctor import Line


def limits_of_runs(_case: Case) -> Iterator[Line]:
    """The kernel, in a cgroup of each run; or JPO itself, and why."""
    folder, why = delegated(*HERE)
    if folder is None:
        systemd = f"systemd-run{' --user' if os.geteuid() else ''} --scope -p Delegate=yes"
        remedy = f"with cgroup v2 the kernel keeps them under `{systemd} jpo run ...`"
        finding = f"kept by `jpo run`, which looks at memory four times a second: {why}"
        yield Line("limits of runs", "ok", finding, remedy)
    else:
        yield Line("limits of runs", "ok", f"kept by the kernel, for each run in a cgroup of its own below {folder}")
