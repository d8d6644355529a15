"""Looks at the rows: whoever saw measures of a table may choose by them, and no ε covers that.

So a look is noted with the table in memory and, for other processes and other days, in the ledger.
"""

from sfumato.data import Table
from sfumato.errors import LedgerError
from sfumato.privacy.ledger import Ledger

LOOK = "a measurement"
"""What shows measures of the rows."""


def note_look(table: Table, what: str, ledger: Ledger | None = None) -> None:
    """Note that measures of the rows are shown; those of a synthetic table show nobody's.

    Without a ledger, the user's own is written; where that cannot be, the table alone remembers. One that is given has
    to be written.
    """
    if table.synthetic:
        return
    schema, book = table.schema, ledger or Ledger()
    try:
        book.note_look(schema.name, what, *table.digests)
        table.note_look(book.looked(schema.account, *table.digests) or what)
    except LedgerError:
        if ledger is not None:
            raise
        table.note_look(what)
