"""Files: those of others are read within bounds; those that JPO writes appear whole or not at all, with the old file's rights.

    writer.py      the one writer
    rights.py      owner, mode, ACL and attributes, from the old file to the new one
    reading.py     files that others wrote: bounded, and refused with their place
    links.py       the file that a name means, which no link may lead out of the project

config.ini has rules of its own on top (config/disk.py): there the old file must still be as it was read.
"""

from jpo.files.links import followed
from jpo.files.rights import NotKept
from jpo.files.writer import refuse_unwritable, successor, whole

__all__ = ["NotKept", "followed", "refuse_unwritable", "successor", "whole"]
