"""One repository's own things, opened once: settings, store, prices, limits, sources of runs.

Only this package reads settings; all others get the values they need.

    settings.py      every table and key of jpo.toml; tables/ has the larger ones; load.py merges files, environment, options
    project.py       Project: the opened repository, which commands hold
    workload.py      config.ini as workload and limits; checkout/: the branch, the root, the values in force
    sources.py       where runs are reported; collect.py asks them and puts runs on record; watermarks.py: since when
    request.py       what may change, is wanted and is allowed, for the optimizer
    proposal.py      its answer as texts of config.ini, checked by the guard
    record.py        suggestion and audit record, then the file
    prices.py        what resources cost; shown_prices.py: as `jpo prices show` has them
    running.py       runs that go on; trial_logs.py: small trials; unreported.py: parameters that runs do not report
    secrets.py       which secret may be sent where; durations.py: durations as text
    plugins/         tables and hooks of plugins
"""
