"""Commands for noise at the client."""
