"""Tables that people and other tools wrote: what all readers of them share.

csv_rows.py  rows of CSV with the numbers of their lines
numerals.py  decimal commas and separated thousands
units.py     the table of units: what one of each is, and how it is spelt

A reader has its own names of columns, its own messages, and the units that its cells may have.
"""
