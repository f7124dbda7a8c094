"""`jpo comment`: a suggestion as a note on the merge request of this pipeline, one per workload, updated in place."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from jpo.errors import UsageError
from jpo.files.links import within_project
from jpo.history.audit import read_row
from jpo.plugins.ci.code_host.merge_request import merge_request_of
from jpo.plugins.ci.code_host.notes import put_note
from jpo.plugins.ci.report import comment as report
from jpo.plugins.ci.report.comment import Comment
from jpo.plugins.ci.report.published import read_report
from jpo.project.collect import LEDGER_RUNS, past_forecasts
from jpo.project.load import LoadedSettings
from jpo.project.prices import currency_of
from jpo.project.project import open_project_store
from jpo.project.workload import only_of
from jpo.report.answer import Report

NOWHERE = "no merge request belongs to this pipeline: there is no note to write"


def comment(
    suggestion_id: str | None, source: Path | None, settings: LoadedSettings, config: Path | None = None, *, link: str | None
) -> Comment:
    """The note about the suggestion with this id, that of a suggestion.json, or the newest one on record.

    Raises UsageError: JPO-E507, nothing is on record under this id, or at all; JPO-E908, the file is no suggestion.
    """
    if source and suggestion_id:
        raise UsageError("--from", "names a suggestion, and so does the ID", "leave one of them out", code="JPO-E908")
    made = replace(read_report(source), currency=currency_of(settings)) if source else on_record(suggestion_id, settings, config)
    return Comment(made, link, within_project(made.path))


def on_record(suggestion_id: str | None, settings: LoadedSettings, config: Path | None = None) -> Report:
    """A suggestion of the store with what became of it; the newest one (of a config.ini) where no id is given."""
    with open_project_store(settings) as job:
        store = job.store
        made = [store.suggestion(suggestion_id)] if suggestion_id else store.suggestions_of(only_of(config, settings), limit=1)
        if not made:
            finding, remedy = "contains no suggestion", "run `jpo suggest` first, or name its file: --from suggestion.json"
            raise UsageError(job.place, finding, remedy, code="JPO-E507")
        (suggestion,) = made
        rows = [read_row(row) for row in store.audit_rows() if suggestion.suggestion_id in row.data]
        events = [event for event in rows if event.data.get("suggestion_id") == suggestion.suggestion_id]
        path = next((str(event.data["config"]) for event in events if "config" in event.data), "config.ini")
        track = past_forecasts(store, store.recorded_runs(suggestion.identity, limit=LEDGER_RUNS), job.prices)
        return Report(suggestion, Path(path), any(event.kind == "written" for event in events), track, currency=job.currency)


def post(note: Comment, environ: Mapping[str, str], number: int | None, *, timeout_seconds: float) -> Iterator[str]:
    """Write or update the note; what was done, a line each.

    Raises UsageError: this is no pipeline of GitLab or GitHub. CodeHostError: it could not be written; what was there is as it
    was.
    """
    request = merge_request_of(environ, number)
    if request is None:
        yield NOWHERE
        return
    routine = not report.says_something(note.report.suggestion)
    mark, body = report.marker(note), report.body(note)
    written = put_note(request, mark, body, timeout_seconds=timeout_seconds, only_update=routine)
    if written is None:
        yield f"no note on {request}: values are kept as they are, and there is nothing to warn of"
        return
    yield f"note on {request} {written.how}" + (f": {written.url}" if written.url else "")
    if written.removed:
        yield f"{written.removed} further of the same workload deleted, which pipelines at once had left"
    if written.left:
        yield f"a further one of the same workload is left: {written.left}"
