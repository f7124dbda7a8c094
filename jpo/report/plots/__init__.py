"""Results as pictures, drawn by matplotlib where it is installed."""
