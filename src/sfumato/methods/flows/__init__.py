"""Synthetic origin–destination flows (Machanavajjhala et al., 2008)."""
