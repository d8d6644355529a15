"""The only place that touches rows: read them, count cells, recode them."""

from sfumato.data.rows import Rows
from sfumato.data.table import Table, read

__all__ = ["Rows", "Table", "read"]
