"""The only place that touches rows: read them, count cells, recode them."""

from sfumato.data.engine import Engine
from sfumato.data.table import Table, read

__all__ = ["Engine", "Table", "read"]
