"""Names of things and the writing of numbers, once for all reports.

names.py      quantities, SLA targets and parameters: names for people, units, formats
numbers.py    numbers as people read them: 3h 52m, 90%, 7.10 USD, -22%
going_on.py   runs that go on, in a sentence each; contradictions.py: runs that report other values; qualities.py: of a model
slug.py       names as labels of Kubernetes hold them
printable.py  texts from outside: seen, in one line, no command to a CI
hidden.py     secrets in a text: what one looks like, and the text without it
"""
