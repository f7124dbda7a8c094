"""Probes of a server that has no run of the workload: small questions, each answered by a request or two, or by "unknown".

An empty answer looks the same whether a label differs, a metric was renamed, the clock is wrong or the retention is too short.
The probes read the server's index of names and labels, not its samples: they stay cheap with years of data. `jpo doctor` shows
every finding, `jpo suggest` only the cause. They change nothing and decide nothing.
"""

import math
import re
from dataclasses import replace

from jpo.http.endpoint import Endpoint
from jpo.http.quoting import quote
from jpo.records import Identity
from jpo.telemetry import contract
from jpo.telemetry.diagnosis.inquiry import Finding, Inquiry, answered
from jpo.telemetry.diagnosis.near_identical import NEAR_IDENTICAL, joining, near_identical
from jpo.telemetry.diagnosis.pod_labels import CODE as MISLABELLED
from jpo.telemetry.diagnosis.pod_labels import labelled
from jpo.telemetry.diagnosis.similar_names import nearest, shown, span
from jpo.telemetry.prometheus.names import Names

CLOCKS_DIFFER_SECONDS = 60.0
DAY = 86400.0
UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": DAY, "w": 7 * DAY, "y": 365 * DAY}


def clock(inquiry: Inquiry) -> Finding:
    """Does the server's clock agree with ours?"""
    offset = inquiry.clock_offset_seconds
    if abs(offset) <= CLOCKS_DIFFER_SECONDS:
        return Finding("ok", f"the server's clock agrees with ours to within {math.ceil(max(1.0, abs(offset)))}s")
    text = f"the server's clock is {span(abs(offset))} {'ahead of' if offset > 0 else 'behind'} ours"
    return Finding("warning", text, "let NTP set both: runs that seem to end in the future are not read", "JPO-W140")


def retention(inquiry: Inquiry) -> Finding:
    """Does the server keep its history as far back as JPO reads?"""
    reported = str(inquiry.client.status("runtimeinfo").get("storageRetention") or "")
    kept = seconds_kept(reported)
    if kept is None:
        words = reported and f" ({quote(reported)})"
        return Finding("unknown", f"the server does not report how long it keeps its history{words}")
    if kept >= inquiry.until - inquiry.since:
        return Finding("ok", f"keeps {span(kept)}; JPO reads the last {inquiry.days}")
    text = f"the server keeps {span(kept)}, and JPO reads the last {inquiry.days}"
    return Finding("warning", text, f"run `jpo observe` at least every {span(kept)}: what is on record stays", "JPO-W143")


def seconds_kept(retention: str) -> float | None:
    """Seconds of Prometheus' retention, written as `15d`, `1y2w` or `15d or 512MiB`; None when it is a size alone."""
    match = re.fullmatch(r"((?:\d+(?:ms|[smhdwy]))+)(?: or .*)?", retention.strip())
    return sum(int(n) * UNITS[unit] for n, unit in re.findall(r"(\d+)(ms|[smhdwy])", match[1])) if match else None


def reporting(inquiry: Inquiry) -> Finding:
    """Do training jobs report anything at all?"""
    if inquiry.run_info in inquiry.metrics:
        return Finding("ok", f"{inquiry.run_info} exists")
    if not inquiry.metrics:
        return Finding("warning", f"the server has no data of the last {inquiry.days}", "is it the right one?", "JPO-W141")
    text = f"no metric {inquiry.run_info} in the last {inquiry.days}"
    if by_labels(inquiry):
        return Finding("ok", f"{text}: the job's pods are found by their labels, and report no loss")
    remedy = "does the job report its runs, and does the server scrape it?"
    return inquiry.renamed(contract.RUN_INFO) or Finding("warning", text, remedy, "JPO-W141")


def workload(inquiry: Inquiry) -> Finding:
    """Does this workload report, or which of its labels differs?"""
    if inquiry.identity is None:
        return Finding("unknown", "config.ini does not say which workload to look for")
    if inquiry.run_info not in inquiry.metrics:
        return by_labels(inquiry) or Finding("unknown", "no run at all is reported")
    if count := len(inquiry.run_ids):
        if found := respelt(inquiry, inquiry.identity):
            return found
        runs = f"{count} run{'' if count == 1 else 's'}"
        return Finding("ok", f"{runs} of {shown(str(inquiry.identity))} in the last {inquiry.days}")
    matching: list[str] = []
    for label, value in inquiry.identity.labels.items():
        reported = inquiry.values(label, inquiry.reported(*matching))
        if value not in reported:
            found = mismatch(matching, label, value, reported)
            meant = (replace(inquiry.identity, **{label: other}) for other in reported if other.strip())
            same = near_identical(inquiry.identity, meant)
            return replace(found, remedy=joined_by(inquiry.identity, same[0])) if same else found
        matching.append(label)
    return Finding("warning", f"its series have no label {inquiry.names.label('run_id')}", "give each run an id", "JPO-W142")


def by_labels(inquiry: Inquiry) -> Finding | None:
    """The finding that runs of the workload are there by the labels of their pods; None where none is."""
    pods = labelled(inquiry)
    return replace(pods, text=f"{pods.text}, by their labels") if pods.status == "ok" and pods.text else None


def respelt(inquiry: Inquiry, identity: Identity) -> Finding | None:
    """A finding that some runs seem to be reported under another spelling of the workload; None if none are."""
    for part, value in identity.labels.items():
        elsewhere = inquiry.reported(*(other for other in identity.labels if other != part))
        for other in inquiry.values(part, elsewhere):
            if other.strip() and near_identical(identity, [replace(identity, **{part: other})]):
                text = f"runs are reported with {part} {shown(other)} as well as {shown(value)}"
                return Finding("warning", text, joined_by(identity, replace(identity, **{part: other})), NEAR_IDENTICAL)
    return None


def joined_by(identity: Identity, other: Identity) -> str:
    return f"if they are the same, write {joining(identity, other)} under [workload.aliases] in jpo.toml"


def mismatch(matching: list[str], label: str, value: str, reported: tuple[str, ...]) -> Finding:
    """The finding `dataset and model match, framework 'torch' does not: known are 'pytorch', 'tensorflow'`."""
    if not reported:
        text = f"runs are reported without a label {label}"
        return Finding("warning", text, "export it, or name it in [prometheus.labels]", "JPO-W142")
    match = f"{' and '.join(matching)} match{'es' if len(matching) == 1 else ''}, " if matching else ""
    similar = nearest(value, reported)
    text = f"{match}{label} {shown(value)} does not{'' if matching else ' match'}: known {'is' if len(reported) == 1 else 'are'} "
    text += ", ".join(map(shown, similar))
    text += f" and {len(reported) - len(similar)} more" if len(reported) > len(similar) else ""
    return Finding("warning", text, f"name the same {label} in config.ini and in what the job reports", "JPO-W142")


def why_empty(source: Endpoint, identity: Identity, *, since: float, until: float, names: Names) -> Finding | None:
    """The likeliest cause for a server without runs of the workload; None where the server does not show any.

    Arguments as in `examine`. Takes at most ten requests, and raises nothing for a server that stopped answering.
    """
    from jpo.telemetry.prometheus.client import Client  # loads requests

    with Client(source) as client:
        inquiry = Inquiry(client, identity, since, until, names)
        reported = answered(workload, inquiry)
        if reported.status == "warning":  # other workloads' runs are there: neither clock nor retention hides this workload's
            return reported
        pods = Finding("ok", "") if reported.status == "ok" else answered(labelled, inquiry)
        if reported.status == "ok" or (pods.status == "ok" and pods.text):
            running = reported.text if reported.status == "ok" else f"{pods.text}, by their labels"
            there = Finding("warning", f"{running}, none of them over and whole", "wait for the end of one", "JPO-I141")
            findings = iter((answered(clock, inquiry), there))
        elif pods.code == MISLABELLED:
            return pods
        else:
            findings = (answered(probe, inquiry) for probe in (reporting, clock, retention))
        return next((finding for finding in findings if finding.status == "warning"), None)
