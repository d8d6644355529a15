"""An audit of every differentially private method, against itself and against broken twins; run it with `make audit`."""
