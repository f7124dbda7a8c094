"""How a run goes: the state of its instance, and the record that its supervisor left in S3, as one JobStatus."""

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from jpo.plugins.launch.engines.aws.answers import DOCS
from jpo.plugins.launch.excerpt import engine_words
from jpo.plugins.launch.exits import in_words
from jpo.plugins.launch.job import JobState, JobStatus
from jpo.records import RunStatus

NEVER_BEGAN: tuple[str, ...] = ("Server.InsufficientInstanceCapacity", "Server.InternalError", "Client.InternalError")
NEVER_BEGAN += ("Client.InvalidSnapshot", "Client.VolumeLimitExceeded")
"""Beginnings of the reasons for which an instance ends before its run begins: no room after all, a disk that cannot be made."""
STOPPED_BY = ("Client.UserInitiated", "Server.")
"""Beginnings of the reasons for which an instance ended that say nothing against its run."""
MOMENT = re.compile(r"\((\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) (?:UTC|GMT)\)")


def status_of(instance: Mapping[str, Any] | None, end: Mapping[str, Any] | str | None, place: str) -> JobStatus:
    """The status of a run.

    Args:
        instance: as DescribeInstances has it; None: EC2 does not know it (any more), an hour after its end.
        end: the record of its end; None: there is none; a text: why that which is there cannot be read.
        place: where that would be, for words.
    """
    if isinstance(end, str):
        reason = f"{place}/end.json does not say how the run ended: {end}"
        return JobStatus(JobState.UNKNOWN, reason=reason, place=where(instance))
    if end is not None:
        return _recorded(end, instance)
    if instance is None:
        return JobStatus(JobState.UNKNOWN, reason=f"EC2 does not know its instance, and {place} has no record of its end")
    state, started, refused = str(instance["State"]["Name"]), instance.get("LaunchTime"), tag(instance, "jpo:refused")
    passed_over, started_at = f"no capacity before: {refused}" if refused else "", started.timestamp() if started else None
    if state == "pending":
        return JobStatus(JobState.WAITING, reason=passed_over, place=where(instance))
    if state in ("running", "stopping", "shutting-down"):
        reason = passed_over if state == "running" else state
        return JobStatus(JobState.RUNNING, reason=reason, place=where(instance), started_at=started_at)
    reason = instance.get("StateReason", {})
    words = engine_words(str(reason.get("Message") or reason.get("Code") or ""))
    code = str(reason.get("Code") or words)
    stopped = code.startswith(STOPPED_BY)
    if not stopped:
        words = f"{words or state}; it left no record in {place}: see {DOCS} for what its image and profile need"
    moment = MOMENT.search(str(instance.get("StateTransitionReason", "")))
    return JobStatus(
        JobState.ENDED,
        ended_as=RunStatus.STOPPED if stopped else RunStatus.FAILED,
        reason=words,
        place=where(instance),
        started_at=None if code.startswith(NEVER_BEGAN) else started_at,
        ended_at=datetime.fromisoformat(moment[1]).replace(tzinfo=UTC).timestamp() if moment else None,
    )


def where(instance: Mapping[str, Any] | None) -> str:
    """Instance, type, market and zone: "i-0abc g5.xlarge spot us-east-1a"."""
    if instance is None:
        return ""
    market = instance.get("InstanceLifecycle", "on-demand")
    zone = instance.get("Placement", {}).get("AvailabilityZone", "")
    return " ".join(str(word) for word in (instance["InstanceId"], instance["InstanceType"], market, zone) if word)


def tag(instance: Mapping[str, Any], name: str) -> str | None:
    return next((str(one["Value"]) for one in instance.get("Tags", []) if one["Key"] == name), None)


def _recorded(end: Mapping[str, Any], instance: Mapping[str, Any] | None) -> JobStatus:
    """The end as the supervisor wrote it down; what cannot be is left out."""
    said, ended_as, known = end.get("exit_code"), end.get("ended_as"), {status.value for status in RunStatus}
    code = said if isinstance(said, int) and not isinstance(said, bool) else None
    return JobStatus(
        JobState.ENDED,
        code,
        RunStatus(ended_as) if ended_as in known else RunStatus.FAILED,
        reason=engine_words(str(end.get("reason") or (in_words(code) if code else ""))),
        place=where(instance),
        started_at=_number(end, "started_at"),
        ended_at=_number(end, "ended_at"),
        memory_gib=_number(end, "memory_gib"),
        cpu_seconds=_number(end, "cpu_seconds"),
    )


def _number(end: Mapping[str, Any], name: str) -> float | None:
    value = end.get(name)
    return float(value) if isinstance(value, int | float) and math.isfinite(value) and value >= 0 else None
