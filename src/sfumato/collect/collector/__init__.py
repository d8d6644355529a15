"""The service that collects noisy reports: where they are stored, what is answered over HTTP, how it is run.

Whoever imports a part of it without its libraries is told how to install them.
"""

from importlib.util import find_spec

from sfumato.errors import ParameterError


def refuse_missing(*libraries: str) -> None:
    """Say what to install where a library is missing."""
    for library in libraries:
        if find_spec(library) is None:
            raise ParameterError(f'the collector needs the library {library}: pip install "sfumato[collector]"')


refuse_missing("fastapi", "sqlalchemy", "uvicorn")
