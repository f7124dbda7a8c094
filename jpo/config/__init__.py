"""config.ini -> Workload, and Edits -> the same bytes but for the values.

    read.py        the workload of a file; identity.py: dataset, model, framework
    locate.py      where each option is in the text, and options by name; source.py: bytes -> text and back
    interpolation.py   what `%(lr)s` refers to, and who else refers to it
    terms.py       batch and GPUs that the file says per device and per node
    edit.py        new values into the bytes, with proof that nothing else changed; values.py: numbers in the old text's style
    disk.py        the edited file onto the disk

The file belongs to the training code. JPO reads it as that code does (Python's configparser), replaces only the characters of a
value, proves that nothing else changed, and otherwise leaves the file alone. It does not decide what a good value is.
"""

from jpo.config.disk import caveats, write
from jpo.config.edit import edited
from jpo.config.identity import PARTS
from jpo.config.locate import OptionNames, Undecided
from jpo.config.read import read
from jpo.config.source import contents
from jpo.config.values import edits_of, format_value

__all__ = ["PARTS", "OptionNames", "Undecided", "caveats", "contents", "edited", "edits_of", "format_value", "read", "write"]
