"""What the documentation shows: its blocks, what its commands print, and how to write shown outputs anew.

`python tests/documentation.py` (or `make docs`) rewrites the command reference, the tables of measures, the drawing of
the packages, what pilots of sample data measure, and every output in README and tutorial that is no longer what the
commands print.
"""

from __future__ import annotations

import contextlib
import difflib
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING
from unittest import mock

import import_graph
import sfumato as sf
from sfumato.cli import main
from sfumato.cli.demo import EPSILON
from sfumato.cli.reference import command_reference
from sfumato.samples.town import SCHEMA_PATH
from sfumato.trials.pilot import SHARE
from sfumato.trials.rehearsal import KEPT, Rehearsal, rehearse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
TUTORIAL = ROOT / "docs" / "tutorial.md"
COMMANDS_PAGE = ROOT / "docs" / "commands.md"
MEASURES_PAGE = ROOT / "docs" / "measures.md"
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NOT_RUN = ("cd", "mkdir", "source", "make", "sfumato commute", "sfumato local", "sfumato audit")
PILOTS = 10
WIDTH = 118
ALIKE = 0.7
"""How alike the beginning of a printed line and a shown line are, from 0 to 1, if the line is to be shown again."""
TITLES = {"privacy": "Privacy", "utility": "Utility", "shape": "Shape"}
BETTER = {"lower": "lower", "higher": "higher", "none": "neither"}


def blocks(text: str) -> list[tuple[str, str]]:
    """The language and the contents of every fenced block."""
    return [(match[1], match[2]) for match in FENCE.finditer(text)]


def plain(text: str) -> str:
    """The text without the accidents of wrapping and alignment."""
    return " ".join(text.split())


def shows(shown: str, printed: str) -> bool:
    """Whether a block of the documentation is what was printed, `...` standing for anything."""
    parts = [re.escape(plain(part)) for part in shown.split("...")]
    return re.fullmatch(".*".join(parts), plain(printed)) is not None


def run(line: str) -> str:
    """What a line of a shell example prints."""
    if line.startswith(NOT_RUN):
        return ""
    word, *arguments = shlex.split(line)
    if word != "sfumato":
        return subprocess.run(["sh", "-c", line], check=True, capture_output=True, text=True).stdout
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        main(arguments)
    return out.getvalue() + err.getvalue()


def outputs(text: str) -> Iterator[tuple[str, str]]:
    """Run the examples of a page in turn; each output that it shows, with what was really printed."""
    printed = ""
    for kind, body in blocks(text):
        if kind == "sh":
            printed = "".join(map(run, body.splitlines()))
        elif kind == "python":
            with contextlib.redirect_stdout(io.StringIO()):
                exec(compile(body, "example", "exec"), {})
        elif kind == "text" and printed:
            yield body, printed


@contextlib.contextmanager
def tutorial_folder(folder: Path) -> Iterator[None]:
    """An empty folder with a ledger of its own, where commands run in this process alone: others take long to start.

    Where no method is named, a few settings are tried in place of all.
    """
    few = [sf.Mondrian(k=5), sf.Mondrian(k=5, t=0.1, distance="jensen-shannon"), sf.Marginals(epsilon=2.55)]
    with (
        contextlib.chdir(folder),
        mock.patch.dict(os.environ, SFUMATO_LEDGER=str(folder / "ledger.sqlite")),
        mock.patch("os.cpu_count", return_value=1),
        mock.patch("sfumato.trials.frontier.default_methods", return_value=few),
    ):
        yield


@contextlib.contextmanager
def readme_folder(folder: Path) -> Iterator[None]:
    """The folder that `make demo` leaves."""
    (folder / "sfumato-demo").mkdir()
    sf.residents(5_000).write_csv(folder / "sfumato-demo" / "town.csv")
    (folder / "sfumato-demo" / "town.toml").write_bytes(SCHEMA_PATH.read_bytes())
    with tutorial_folder(folder):
        yield


def rewrite_output(shown: str, printed: str) -> str:
    """The lines of an output that were shown before, as they are printed now; `...` stands for the others."""
    wanted = [plain(line) for line in shown.splitlines() if line.strip() not in ("", "...")]
    kept: list[str] = []
    for line in printed.splitlines():
        found = next((other for other in wanted if line.strip() and alike(plain(line), other)), None)
        if found is not None:
            wanted.remove(found)
            kept += textwrap.wrap(line, WIDTH, subsequent_indent=" " * (len(line) - len(line.lstrip())))
        elif line.strip() and kept[-1:] != ["..."]:
            kept.append("...")
    return "\n".join(kept) + "\n"


def alike(line: str, shown: str) -> bool:
    """Whether a printed line begins much as a shown one does."""
    return difflib.SequenceMatcher(None, line[: len(shown)], shown).ratio() >= ALIKE


def rewrite_outputs(text: str) -> str:
    """The page with each output that is no longer right written anew."""
    for shown, printed in list(outputs(text)):
        if not shows(shown, printed):
            text = text.replace(f"```text\n{shown}```", f"```text\n{rewrite_output(shown, printed)}```")
    return text


def limits_text(lowest: float, highest: float | None) -> str:
    return f"{lowest:.3g} or more" if highest is None else f"{lowest:.3g} to {highest:.3g}"


def measures_table(family: str) -> str:
    """The measures of a family as a table."""
    lines = ["| name | title | better | unit | range | meaning |", "|---|---|---|---|---|---|"]
    for measure in sf.MEASURES.values():
        if measure.family == family:
            better, limits = BETTER[measure.direction], limits_text(measure.lowest, measure.highest)
            cells = (f"`{measure.name}`", measure.title, better, measure.unit, limits, measure.sentence)
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def rewrite_measures(page: str) -> str:
    """The page with the table below each family's heading written anew."""
    for family, title in TITLES.items():
        pattern = rf"(^## {title}\n[^#|]*)(?:^\|.*\n)+"
        page, found = re.subn(pattern, lambda match, family=family: match[1] + measures_table(family), page, flags=re.M)
        assert found == 1, f"docs/measures.md needs one table under the heading {title}"
    return page


def update(page: Path, change: Callable[[str], str]) -> None:
    """Rewrite a page if it is out of date, and say so."""
    before = page.read_text(encoding="utf-8")
    after = change(before)
    if after != before:
        page.write_text(after, encoding="utf-8")
        sys.stdout.write(f"{page.relative_to(ROOT)} is written anew.\n")


def rehearsal(pilots: int = PILOTS) -> Rehearsal:
    """Pilots of the made-up town at the demo's ε, and two releases at what they leave of it."""
    town = sf.read(sf.residents(5_000), SCHEMA_PATH)
    rest = EPSILON * (1 - SHARE)
    return rehearse(town, EPSILON, [sf.Marginals(epsilon=rest), sf.QuadTree(epsilon=rest), sf.Mondrian(k=10)], pilots)


def update_all() -> None:
    update(KEPT, lambda _: rehearsal().to_json())
    update(COMMANDS_PAGE, lambda _: command_reference())
    update(MEASURES_PAGE, rewrite_measures)
    update(import_graph.PAGE, import_graph.redraw)
    for page, place in ((README, readme_folder), (TUTORIAL, tutorial_folder)):
        with tempfile.TemporaryDirectory() as folder, place(Path(folder)):
            update(page, rewrite_outputs)


if __name__ == "__main__":
    update_all()
