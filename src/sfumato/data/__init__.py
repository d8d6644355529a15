"""The only place that touches rows: read them, count cells, recode them."""

from sfumato.data.engine import Engine
from sfumato.data.reading import read
from sfumato.data.table import Table

__all__ = ["Engine", "Table", "read"]
