"""Settings of synthetic flows tried side by side."""
