"""`jpo persist`: the values in force as a merge request to the default branch, one per workload, kept up to date."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from jpo.plugins.ci.code_host.changes import ProposedChange
from jpo.plugins.ci.code_host.persist import marker, persist
from jpo.plugins.ci.code_host.repository import repository_of
from jpo.plugins.ci.report import proposal
from jpo.plugins.ci.report.comment import Comment
from jpo.project.load import LoadedSettings
from jpo.project.workload import read_workload
from jpo.records import same


def propose(
    note: Comment, config: Path, settings: LoadedSettings, environ: Mapping[str, str], *, timeout_seconds: float
) -> Iterator[str]:
    """Bring the merge request up to date with config.ini as it is here; what was done, a line each.

    Raises UsageError: config.ini cannot be read, or this is no pipeline of GitLab or GitHub. ConflictError: JPO-E923,
    config.ini has changed on the default branch since. CodeHostError: it could not be done; what was there is as it was.
    """
    repository = repository_of(environ)
    if isinstance(repository, str):
        yield f"nothing is proposed: {repository}"
        return
    workload, made = read_workload(config, settings, now=0.0), note.report.suggestion
    if workload.identity != made.identity or not same(made.values.suggested, workload.current):
        yield f"nothing is proposed: {config} does not have the values of suggestion {made.suggestion_id}"
        return
    path, values = repository.path_of(config), proposal.values(made)
    body, title = f"{marker(values)}\n\n{proposal.text(note)}", proposal.title(made, path)
    branch, message = proposal.branch(made, path), proposal.message(made)
    wanted = ProposedChange(branch, path, workload.content, values, title, body, message)
    done = persist(repository, wanted, timeout_seconds=timeout_seconds)
    if done.request is None:
        yield f"no merge request: {done.why}"
        return
    named = f"merge request {repository.access.named(done.request.number)}"
    said = {"none": "", "left": " left as it is"}.get(done.how, f" {done.how}")
    yield f"{named}{said}{' ' if done.how == 'none' else ': ' if done.why else ''}{done.why}: {done.request.url}"
