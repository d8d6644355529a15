"""The report of an evaluation of synthetic flows: a page and its charts."""
