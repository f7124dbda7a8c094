"""AWS: a run is one EC2 instance, the cheapest that has room, which ends itself. Output and log come home through S3.

    settings.py      AwsTable: where instances start, and which are on offer
    offers.py        instances in order of price, spot and on demand: what is tried, one after the other, as far as quotas allow
    market.py        today's prices of its regions, kept in the project with their day; what spot instances lost
    attempts.py      what was tried for a run, on disk before AWS hears of it: after a lost answer the same is asked again
    request.py       one instance as RunInstances wants it, told at its start of job, config.ini and supervisor (cloud-init)
    supervisor.py    runs on the instance: starts the command, ends it in time, brings its files to S3 (with local/processes.py)
    answers.py       boto3's errors in one line, with AWS' own words and without secrets
    ended.py         an instance and its record in S3 -> JobStatus
    bucket.py        the files of a run in S3
    launcher.py      the launcher
    skypilot.py      the same run as a task of SkyPilot

Credentials are those of AWS' own tools; instances have those of their instance profile, and user data holds none.
"""

from jpo.plugins.launch.engines import Engine

ENGINE = Engine(
    "jpo.plugins.launch.engines.aws.launcher:launcher",
    table="jpo.plugins.launch.engines.aws.settings:AwsTable",
    has_queue=False,
    market="jpo.plugins.launch.engines.aws.market:market",
)
