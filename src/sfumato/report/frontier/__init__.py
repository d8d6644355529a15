"""The report of a frontier: a page, a chart and a table of every release that was tried."""
