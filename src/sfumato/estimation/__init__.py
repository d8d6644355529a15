"""From what is published with noise to what it says: distributions, consistency, intervals."""
