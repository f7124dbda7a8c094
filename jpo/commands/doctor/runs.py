"""Checks of the sources of finished runs, Prometheus and CSV logs: can they be read, and are the workload's runs there?"""

from collections import Counter
from collections.abc import Iterator

from jpo.commands.doctor.case import Case, exists
from jpo.errors import JpoError
from jpo.http.endpoint import Endpoint
from jpo.project.running import running_now
from jpo.project.secrets import travels_openly
from jpo.project.sources import asked_since, names_of, own_names
from jpo.records import Skipped
from jpo.report.doctor import Line, how_to_report
from jpo.telemetry.csv.folder import doubts_of, log_files, read_each
from jpo.telemetry.diagnosis.examine import examine
from jpo.telemetry.diagnosis.near_identical import sentences
from jpo.telemetry.doubts import as_one
from jpo.telemetry.outcome import CONTRADICTORY, IMPOSSIBLE, NO_SECONDS, UNTIMELY
from jpo.wording.going_on import DOES_NOT_COUNT, sentence
from jpo.wording.numbers import counted

MOST_SHOWN = 3
"""Runs that go on of which the line tells."""
AMISS = (IMPOSSIBLE, CONTRADICTORY, UNTIMELY, NO_SECONDS)
"""Causes for which a log is of no use that its writer must mend; one that is not over, or that tells nothing, is none."""


def access(case: Case) -> Iterator[Line]:
    """How Prometheus is asked, and whether others could listen or answer in its place."""
    if case.server is None:
        if case.settings.csv_logs:
            yield Line("source", "ok", "no [prometheus] url: runs come from CSV logs")
        else:
            finding = "no [prometheus] url and no log in runs/: JPO knows what `jpo observe` tells it by hand"
            script = f"in the training script: {how_to_report(case.identity)}" if case.identity else ""
            remedy = script or "name one of them in jpo.toml"
            yield Line("source", "warning", finding, remedy, "JPO-W148")
        return
    names_of(case.settings)  # raises what is wrong with them, offline too
    shown, secret = credentials(case.server)
    if not case.server.verify:
        finding = f"{shown}; any certificate is trusted ([prometheus] insecure): anyone on the network path can forge runs"
        yield Line("access", "warning", finding, "set ca_file to the server's authority", "JPO-W147")
    elif secret and travels_openly(case.server.url):
        finding = f"{shown} over http://: everybody on the way can read it"
        yield Line("access", "warning", finding, "use https://", "JPO-W147")
    else:
        yield Line("access", "ok", f"{case.server.shown_url.partition('//')[0]}//, {shown}")


def credentials(server: Endpoint) -> tuple[str, bool]:
    """What JPO shows to Prometheus, in words, and whether whoever reads it could use it."""
    if server.credentials:
        return "user and password", True
    if server.bearer_token:
        return "a bearer token", True
    if server.sigv4_region:
        return f"AWS signatures for {server.sigv4_region}", False
    if server.client_cert:
        return "a client certificate", False
    return (f"headers {', '.join(server.headers)}", True) if server.headers else ("no credentials", False)


def prometheus(case: Case) -> Iterator[Line]:
    """What the server holds, by the probes of telemetry/diagnosis/."""
    if case.server is None:
        return
    if case.offline:
        yield Line("server", "unknown", "not asked: --offline")
        return
    since, names = asked_since(case.settings, now=case.now), names_of(case.settings)
    answers = examine(case.server, case.identity, since=since, until=case.now, names=names)
    for name, answer in answers.items():
        code = answer.error.exit_code if answer.error and answer.status == "problem" else 0
        yield Line(name, answer.status, answer.text, answer.remedy, answer.code, code)
    if answers["server"].status == "ok":
        yield from going_on(case)


def going_on(case: Case) -> list[Line]:
    """Whether runs of the workload go on, which nothing else shows; no line where none does, or nobody can tell."""
    if case.identity is None:
        return []
    try:
        with case.history() as store:
            runs = running_now(case.server, case.identity, case.settings, store)
    except JpoError:
        return []  # the server stopped answering, or the store has a line of its own
    if not runs:
        return []
    goes, ended = ("in progress", DOES_NOT_COUNT) if len(runs) == 1 else ("in progress", "they do not count until they ended")
    told = "; ".join(sentence(run) for run in runs[:MOST_SHOWN]) + ("; and others" if runs[MOST_SHOWN:] else "")
    return [Line("running", "ok", f"{counted(len(runs), 'run')} {goes}: {told}; {ended}", code="JPO-I174")]


def csv_logs(case: Case) -> Iterator[Line]:
    """Whether the patterns match, and what is in the files."""
    for pattern in case.settings.csv_logs:
        files = list(log_files([pattern]))
        if not any(map(exists, files)):
            yield Line("logs", "warning", f"{pattern} matches no file", "correct [csv] logs, or run the job", "JPO-W148")
            continue
        runs, unusable = read_each(files, now=case.now, own=own_names(case.settings))
        names = (case.identity, *case.workload.aliases) if case.identity else ()
        others = Counter(log.run.identity for log in runs if not any(name.includes(log.run.identity) for name in names))
        ours = len(runs) - others.total() if names else 0
        finding = f"{pattern}: {counted(len(files), 'file')}, {counted(len(runs), 'finished run')}, {ours} of this workload"
        if unreadable := [log.why.text for log in unusable if log.why.code == "JPO-E110"]:
            finding += f"; {len(unreadable)} cannot be read: {unreadable[0]}"
            yield Line("logs", "warning", finding, "fix or remove it: --strict ends with it", "JPO-W148")
        elif names and runs and not ours:
            finding = f"{finding}, but of {', '.join(str(name) for name, _ in others.most_common(MOST_SHOWN))}"
            yield Line("logs", "warning", finding, "if the job has run, name the same in config.ini and in the job", "JPO-W142")
        elif ours and not any(log.run.ended_well for log in runs if log.run.identity not in others):
            remedy = "see why: `jpo lab logs` and what it wrote"
            yield Line("logs", "warning", f"{finding}, and none ended well", remedy, "JPO-W148")
        else:
            yield Line("logs", "ok", finding + (f"; {len(unusable)} of no use: {unusable[0].why.text}" if unusable else ""))
        for kind in AMISS:
            if alike := [log for log in unusable if log.kind == kind]:
                where = as_one([Skipped(log.run_id, log.why.finding, kind) for log in alike]).reason
                yield Line("in the logs", "warning", where, alike[0].why.remedy or "correct what writes the log", kind)
        respelt = sentences(case.identity, others, "in CSV logs") if case.identity else ()
        for note in (*doubts_of(runs), *respelt):
            yield Line("in the logs", "warning", note.finding, note.remedy, note.code)
