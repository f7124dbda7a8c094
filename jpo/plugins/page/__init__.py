"""`jpo report`: all of a store on one page, what JPO did and what came of it.

cli.py  story.py   the command
report/            the page
"""
