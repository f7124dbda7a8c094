from recorded_history import history, serve

__all__ = ["history", "serve"]
