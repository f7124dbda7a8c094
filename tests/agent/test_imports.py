import subprocess
import sys


def test_deciding_imports_neither_torch_nor_pandas():
    code = """
import sys
import jpo.agent.action, jpo.agent.decide, jpo.agent.policy
print(*{"torch", "pandas"} & set(sys.modules))
"""
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == ""
