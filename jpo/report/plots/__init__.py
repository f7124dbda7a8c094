"""Pictures of plugins that matplotlib draws itself."""
