"""Noise at the client: surveys, estimates from noisy reports, planning, and the service that collects them."""
