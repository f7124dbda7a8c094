"""What tests of the core have in their folders, for those of plugins: a user's project, an opened one, recorded runs."""

from opened_repository import repository
from recorded_history import history, serve
from two_runs import jpo
from user_project import empty, learning, project, short_practice

__all__ = ["empty", "history", "jpo", "learning", "project", "repository", "serve", "short_practice"]
