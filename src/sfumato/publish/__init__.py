"""From a method to a release in a folder: reserve, draw, write, settle."""
