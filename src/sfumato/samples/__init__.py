"""Sample data that comes with the program."""
