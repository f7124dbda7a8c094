"""Suggestions with ids of their own choosing, and what a process that was killed has left of one: on record, but not written."""

import re
from itertools import chain, count

from jpo import config
from jpo.errors import UsageError
from jpo.history import AuditEvent, Json, Store
from jpo.history.unsettled import fate
from jpo.project.project import Project
from jpo.project.record import digest_of
from jpo.project.workload import content_now
from jpo.records import Edit, Identity, Suggestion

NOT_ON_RECORD = "JPO-E507"


def made_under(suggestion_id: str, store: Store, identity: Identity) -> Suggestion | None:
    """The suggestion that counts among those which were made under an id: the newest that was not withdrawn; None: there is none.

    What was lost to another writer stands under the id itself, and its second try under ID-2.
    """
    tries = re.compile(rf"{re.escape(suggestion_id)}(-([2-9]|\d\d+))?(-2)?")
    made = [each for each in store.suggestions_of(identity) if tries.fullmatch(each.suggestion_id)]
    return made[-1] if made else None


def free_id(suggestion_id: str, store: Store) -> str:
    """The id, or ID-3 and so on, where what stands under it was withdrawn before this process began."""
    names = chain([suggestion_id], (f"{suggestion_id}-{number}" for number in count(3)))  # -2 is that of a second try
    return next(name for name in names if not _known(name, store))


def finish_writing(job: Project, suggestion_id: str) -> bool:
    """Write what was put on record under an id and then not written, because the process was killed in between; False: nothing.

    Nothing is decided anew: the bytes are those that were planned, and only over the file that the suggestion was made from.
    """
    workload = job.workload
    for made in job.store.unsettled(workload.identity):
        if made.data["suggestion_id"] != suggestion_id or fate(made, content_now(workload.path)) != "not written":
            continue
        lines = {parameter.key: parameter.line for parameter in workload.parameters}
        changes = [change for change in job.store.suggestion(suggestion_id).changes if change.key in lines]
        edits = [Edit(change.key, lines[change.key], change.old_text, change.new_text) for change in changes]
        content = config.edited(workload.on_disk, str(workload.path), edits)
        if digest_of(content) != made.data.get("planned_digest"):
            continue  # of a checkout with older values: the next suggestion starts from the file
        config.write(workload.path, edits, expected_digest=workload.digest)
        data: dict[str, Json] = {"suggestion_id": suggestion_id, "config": str(workload.path), "source_digest": workload.digest}
        data |= {"written_digest": digest_of(content), "found_later": True}
        job.store.audit(AuditEvent("written", job.now, workload.identity, data))
        return True
    return False


def _known(suggestion_id: str, store: Store) -> bool:
    try:
        store.suggestion(suggestion_id)
    except UsageError as error:
        if error.code != NOT_ON_RECORD:
            raise
        return False
    return True
