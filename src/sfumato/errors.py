"""What can go wrong in ways a user can act on.

Every message is one sentence that names the place (file, row, column, value) and what was expected. The
command line prints it and exits with code 2.
"""

MAX_SHOWN = 80
"""Letters of a value in a message: one cell of a file can have millions."""


def quote(value: object) -> str:
    """A value as a message shows it."""
    return shorten(repr(value))


def shorten(text: str, most: int = MAX_SHOWN) -> str:
    """Text with an ellipsis in place of what is beyond so many letters."""
    return text if len(text) <= most else f"{text[:most]}…"


class SfumatoError(Exception):
    """Something the user can put right; `details` are lines below the sentence, where there are several such things."""

    def __init__(self, sentence: str = "", *, details: tuple[str, ...] = ()) -> None:
        super().__init__("\n  ".join([sentence, *details]))
        self.sentence, self.details = sentence, details


class SchemaError(SfumatoError):
    """The schema, a taxonomy or a hierarchy file is not usable."""


class DataError(SfumatoError):
    """The data does not fit its schema, or cannot be read."""


class ParameterError(SfumatoError):
    """A method, requirement or command was given a parameter out of range."""


class UnsatisfiableError(SfumatoError):
    """No release of this table can meet the requirements."""


class ReleaseError(SfumatoError):
    """A release cannot be read, or does not keep its claim."""


class ProgramError(SfumatoError):
    """A program that is audited cannot be run, fails, or takes too long."""


class QueryError(SfumatoError):
    """A query cannot be understood."""


class BudgetError(SfumatoError):
    """More privacy budget is asked for than is left."""


class LedgerError(SfumatoError):
    """The ledger of privacy budgets cannot be used, or would be told something twice."""
