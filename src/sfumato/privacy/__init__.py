"""Claims, requirements, distances and noise."""
