"""The only place that touches rows: read them, count cells, recode them."""

from sfumato.engines.rows import Rows
from sfumato.engines.table import Table, read

__all__ = ["Rows", "Table", "read"]
