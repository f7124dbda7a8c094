"""Files of a run in S3: its output, its run log and the record of its end, below one prefix.

s3://BUCKET/KEY/output.log    s3://BUCKET/KEY/runs/*.csv    s3://BUCKET/KEY/end.json
"""

import re
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from jpo.files import whole
from jpo.files.reading import json_object
from jpo.plugins.launch.engines.aws.answers import answer, excused
from jpo.plugins.launch.engines.aws.request import Home
from jpo.plugins.launch.ledger import make_folder

LARGEST_RECORD, LARGEST_BYTES = 2**16, 2**26
MOST_LOGS = 100
LOG = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")
"""Names of run logs that are taken over; an instance may be anybody's by then."""


def end_of(s3: Any, home: Home) -> Mapping[str, Any] | str | None:
    """The record of a run's end; None: there is none (yet); a text: why it cannot be read. LaunchError as of `answer`."""
    text = _content(s3, home, "end.json", LARGEST_RECORD)
    try:
        return None if text is None else json_object(text)
    except ValueError as error:
        return str(error)


def fetch_output(s3: Any, home: Home, folder: Path, *, over: bool = True) -> None:
    """Bring run logs into the folder of a run, for the user alone, and the output where it is over; what is there is replaced."""
    make_folder(folder / "runs")
    prefix = f"{home.key}/runs/"
    wanted: Any = {"Bucket": home.bucket, "Prefix": prefix, "MaxKeys": MOST_LOGS}
    listed = answer(home.place, lambda: (found := s3.list_objects_v2(**wanted))["Name"] and found.get("Contents", []))
    logs = (str(found["Key"]).removeprefix(prefix) for found in listed)
    for name in (*(["output.log"] if over else []), *(f"runs/{log}" for log in logs if LOG.fullmatch(log))):
        content = _content(s3, home, name, LARGEST_BYTES)
        if content is not None:
            with whole(folder / name, mode=0o600) as new:
                new.write(content)


def _content(s3: Any, home: Home, name: str, most_bytes: int) -> bytes | None:
    """The beginning of a file; None: there is none."""

    def read() -> bytes | None:
        found: Mapping[str, Any] = {}
        with excused("NoSuchKey"):
            found = s3.get_object(Bucket=home.bucket, Key=f"{home.key}/{name}")
        if not found:
            return None
        with closing(found["Body"]) as body:
            content, _ = b"", found["ETag"]  # without one it is no object of S3
            while part := body.read(most_bytes - len(content)):  # boto3 says at its end alone that an answer was cut
                content += part
        return content

    return answer(f"{home.place}/{name}", read)
