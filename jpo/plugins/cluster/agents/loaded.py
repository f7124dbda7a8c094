"""An agent of a user's own file. The file is run, so it is loaded only where the command line names it."""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import TracebackType

from jpo.errors import JpoError, UsageError, quoted
from jpo.files.reading import opened
from jpo.plugins.cluster.agents.base import ClassicAgent, LearningAgent


class AgentFaults:
    """Whatever a user's agent raises, while this is entered, becomes one line that names the agent. It may raise anything."""

    def __init__(self, place: str) -> None:
        self._place = place

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if error is not None and not isinstance(error, KeyboardInterrupt | JpoError):
            line = trace
            while line is not None and line.tb_next is not None:
                line = line.tb_next
            at = f" (line {line.tb_lineno} of {Path(line.tb_frame.f_code.co_filename).name})" if line is not None else ""
            finding = f"raised {type(error).__name__}: {str(error) or 'without a message'}{at}"
            raise UsageError(self._place, finding, "fix the agent", code="JPO-E748") from error


def load_agent(text: str) -> type[ClassicAgent] | type[LearningAgent]:
    """The class of `mine.py:Mine`. Raises UsageError: JPO-E748, there is none, it is no agent, or the file raises."""
    file, colon, name = text.rpartition(":")
    path, remedy = Path(file), "write e.g. --agent mine.py:Mine"
    if not (colon and name.isidentifier()):
        raise UsageError("--agent", f"{quoted(text)} names no class of a file", remedy, code="JPO-E748")
    with opened(path, lambda finding: UsageError(str(path), finding, remedy, code="JPO-E748")):
        pass
    spec = spec_from_file_location(f"jpo_agent_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise UsageError(str(path), "is not a Python file", remedy, code="JPO-E748")
    module = module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses of the file look their module up
    with AgentFaults(str(path)):
        spec.loader.exec_module(module)
    found = getattr(module, name, None)
    if not (isinstance(found, type) and issubclass(found, ClassicAgent | LearningAgent)):
        finding = f"has no agent {name}" if found is None else f"{name} derives from neither ClassicAgent nor LearningAgent"
        raise UsageError(str(path), finding, "see jpo/plugins/cluster/agents/base.py", code="JPO-E748")
    return found
