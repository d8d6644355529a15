"""The version of the program, written into every release."""

__version__ = "0.2.0.dev0"
