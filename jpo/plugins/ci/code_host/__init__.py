"""GitLab and GitHub as far as JPO writes there: one note on the merge request of the pipeline, and one merge request.

    merge_request.py  where the note goes and with which token, from the environment
    calls.py          JSON calls through the guarded session, and what their refusals mean
    notes.py          one own note per workload, written or updated in place
    repository.py     where values are proposed and with which token, from the environment
    changes.py        what is asked of a host for that; gitlab.py and github.py ask it
    persist.py        one branch and one merge request per workload, kept up to date

Nothing of it is in jpo.toml: a branch names neither the server nor the token.
"""
