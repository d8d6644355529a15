"""Origin–destination data: where the people who go to a place come from, without showing where anyone lives."""
