"""One way into a release folder, whatever kind of data it holds."""

from pathlib import Path

from sfumato.release.envelope import Envelope
from sfumato.release.flows import FlowRelease
from sfumato.release.release import Release


def load_release(folder: Path | str) -> Release | FlowRelease:
    """The release in a folder: a table, or flows.

    >>> folder = sf.Mondrian(k=10).publish(table).save("release")
    >>> sf.load_release(folder).rows
    400.0
    """
    kind = FlowRelease if Envelope.read(Path(folder)).kind == "flows" else Release
    return kind.load(folder)
