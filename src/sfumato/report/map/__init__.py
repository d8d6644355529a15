"""The map of flows: one page, what it draws, and the outlines of regions."""
