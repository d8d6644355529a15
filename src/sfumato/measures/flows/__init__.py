"""What synthetic flows get wrong, in figures."""
