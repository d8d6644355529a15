"""An audit of every differentially private method and of broken twins; run it with `make audit`."""
