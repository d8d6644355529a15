"""Another program as a generator: it is given a file, runs once, and leaves a file."""

import contextlib
import os
import re
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from sfumato.data.formats import FORMATS, write_table
from sfumato.errors import ParameterError, ProgramError

PLACEHOLDER = re.compile(r"\{(input|output)((?:\.\w+)*)\}")
USUAL_ENDING = ".csv"
MAX_SHOWN = 300
"""Characters of what a program said last."""
MAX_TIMEOUT = 1e6


@dataclass(frozen=True, kw_only=True)
class Program:
    """A command with placeholders, a folder for its files, and how many seconds it may take.

    `{input}` is the CSV file that it reads, `{output}` the file or release folder that it writes; `{input.parquet}` and
    `{output.parquet}` are the same in another format.
    """

    command: tuple[str, ...]
    folder: Path
    timeout: float

    def __post_init__(self) -> None:
        for name in ("input", "output"):
            endings = {ending for word in self.command for kind, ending in PLACEHOLDER.findall(word) if kind == name}
            if len(endings) != 1:
                found = "several formats of it" if endings else "none"
                raise ParameterError(f"the command of the program needs one placeholder {{{name}}}; it has {found}")
            known = [end for end, kind in FORMATS.items() if name == "output" or kind.write]
            if not endings <= {"", *known}:
                raise ParameterError(f"{{{name}{endings.pop()}}}: expected an ending such as {', '.join(known)}")
        if not 0 < self.timeout <= MAX_TIMEOUT:
            raise ParameterError(f"timeout is {self.timeout:g}; expected seconds, above 0 and at most {MAX_TIMEOUT:g}")

    def __call__(self, rows: pl.DataFrame) -> Path:
        """Run the program on the rows; the path of what it wrote."""
        write_table(rows, self._path("input"))
        self._run()
        if not self._path("output").exists():
            raise ProgramError(f"{self.command[0]}: the program ended well but wrote no {{output}}")
        return self._path("output")

    def _path(self, name: str) -> Path:
        endings = (ending for word in self.command for kind, ending in PLACEHOLDER.findall(word) if kind == name)
        return self.folder / f"{name}{next(endings) or USUAL_ENDING}"

    def _run(self) -> None:
        words = [PLACEHOLDER.sub(lambda found: str(self._path(found[1])), word) for word in self.command]
        told = self.folder / "stderr.txt"
        with told.open("wb") as errors:
            try:
                process = subprocess.Popen(
                    words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors, start_new_session=True
                )
            except (OSError, ValueError) as error:
                reason = getattr(error, "strerror", None) or error
                raise ProgramError(f"{words[0]}: the program cannot be run ({reason})") from error
            code = self._wait(process)
        if code != 0:
            end = f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
            raise ProgramError(f"{words[0]}: the program {end}{_last_words(told)}")

    def _wait(self, process: "subprocess.Popen[bytes]") -> int:
        """The exit code; whatever the program started is ended with it."""
        try:
            return process.wait(self.timeout)
        except subprocess.TimeoutExpired as error:
            limit = f"{self.timeout:g} seconds"
            raise ProgramError(
                f"{self.command[0]}: the program was still running after {limit}; allow more with --timeout"
            ) from error
        finally:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _last_words(file: Path) -> str:
    """The last line that a program wrote on standard error."""
    lines = [line.strip() for line in file.read_text(encoding="utf-8", errors="replace").splitlines() if line.strip()]
    return f" and said: {lines[-1][:MAX_SHOWN]}" if lines else " and said nothing on standard error"
