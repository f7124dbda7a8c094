from opened_repository import repository

__all__ = ["repository"]
