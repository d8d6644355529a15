"""The pages, charts and tables of a reproduction of papers."""
