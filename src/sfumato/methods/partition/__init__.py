"""Methods that put the rows of a table into classes or buckets, and the two end points."""
