"""config.ini -> Workload, and Edits -> the same bytes but for the values.

The file belongs to the training code. JPO reads it as that code does (Python's configparser), replaces nothing but the
characters of a value, proves that nothing else changed, and otherwise leaves the file alone. It does not decide what a good
value is.
"""

from jpo.config.disk import write
from jpo.config.edit import edited
from jpo.config.read import read
from jpo.config.values import format_value

__all__ = ["edited", "format_value", "read", "write"]
