"""The reports: a document becomes a page, charts and tables for the eyes of the publisher; flows become a map."""
