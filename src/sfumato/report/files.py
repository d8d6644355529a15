"""The files of a report. All are made before the first is written, and each appears whole or not at all."""

from collections.abc import Mapping
from pathlib import Path

from sfumato.files import place
from sfumato.release.envelope import refuse_inside_release


def write_files(folder: str | Path, contents: Mapping[str, str | bytes], *, replaced: str = "") -> list[Path]:
    """Write files into a folder that is no release, and return their paths.

    Earlier files there that match `replaced` and are not written again do not stay beside those of another report.
    """
    folder = Path(folder)
    refuse_inside_release(folder)
    folder.mkdir(parents=True, exist_ok=True)
    written = [place(folder / name, content) for name, content in contents.items()]
    for earlier in folder.glob(replaced) if replaced else ():
        if earlier not in written:
            earlier.unlink()
    return written
