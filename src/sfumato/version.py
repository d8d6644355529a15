"""The version of the program, written into every release."""

__version__ = "0.1.0"
