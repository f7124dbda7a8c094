"""The lab: how JPO and its peers do on simulated jobs (`jpo simulate`), recorded ones (`jpo replay`) and one's own (`jpo logs`).

cli/      options and help; story/: what each command does; report/: what it shows
replay/   recorded jobs played again, with JPO's peers
"""
