from user_project import empty, learning, project, short_practice

__all__ = ["empty", "learning", "project", "short_practice"]
