import pytest


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """Room for what is said in one line; test_story.py has the test of 80 columns."""
    monkeypatch.setenv("COLUMNS", "2000")
