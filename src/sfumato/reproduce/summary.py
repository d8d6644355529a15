"""The summary of a reproduction as Markdown, with the charts a reader should see first: docs/reproduction.md."""

from collections.abc import Iterator
from pathlib import Path

from sfumato.report.files import write_files
from sfumato.report.reproduction.document import VERDICTS, PaperEntry, Reproduction, StatementEntry

NAME = "reproduction"
SHOWN = (
    "together/adult-disclosure-query-error",
    "together/census-disclosure-query-error",
    "li2009/figure-2a",
    "cormode2013/figure-5a",
    "alhussaeni2018/figure-8",
    "machanavajjhala2008/bias",
    "kacem2018/conjecture-falling",
)
"""The charts shown in the summary, if they were drawn."""
HEAD = """# The papers, reproduced

This page was written by `sfumato reproduce --all`. It lists every checkable statement of the papers that this program
builds: what the paper prints, what was measured here, and whether it holds. What fails is kept and explained. An
interval in brackets is a 95% interval over seeds; a statement is open where it cannot be checked, or where the interval
allows both verdicts.
"""


def write_summary(document: Reproduction, folder: Path) -> list[Path]:
    """Write `reproduction.md` and the charts that it shows; the charts lie in a folder of the same name."""
    drawn = {
        f"{paper.name}/{panel.name}" for paper in document.papers for one in paper.experiments for panel in one.panels
    }
    pictures: dict[str, str | bytes] = {
        f"{place.replace('/', '-')}.png": (folder / f"{place}.png").read_bytes()
        for place in SHOWN
        if place in drawn and (folder / f"{place}.png").is_file()
    }
    text = "\n".join(_lines(document, list(pictures)))
    return [*write_files(folder, {f"{NAME}.md": text}), *write_files(folder / NAME, pictures)]


def _lines(document: Reproduction, pictures: list[str]) -> Iterator[str]:
    yield HEAD
    if document.quick:
        yield "**A quick run on small samples: no verdict below counts.**\n"
    yield "| paper | statements | holds | fails | open |"
    yield "|---|---|---|---|---|"
    for paper in filter(lambda paper: paper.statements, document.papers):
        counts = " | ".join(str(paper.count(verdict)) for verdict in VERDICTS)
        yield f"| [{paper.name}](#{paper.name}) | {len(paper.statements)} | {counts} |"
    counts = " | ".join(str(document.count(verdict)) for verdict in VERDICTS)
    yield f"| all | {len(document.statements)} | {counts} |\n"
    for picture in pictures:
        yield f"![{picture.removesuffix('.png')}]({NAME}/{picture})\n"
    for paper in filter(lambda paper: paper.statements, document.papers):
        yield from _paper(paper)


def _paper(paper: PaperEntry) -> Iterator[str]:
    yield f"## {paper.name}\n"
    yield f"{paper.title}. {paper.reference}. {paper.stand_in}".strip() + f" `sfumato reproduce {paper.name}`\n"
    yield "| place | statement | printed | measured | verdict |"
    yield "|---|---|---|---|---|"
    yield from map(_statement, paper.statements)
    yield ""


def _statement(one: StatementEntry) -> str:
    why = f" *{one.why}*" if one.why else ""
    cells = (one.place, one.says, one.printed, f"{one.measured}{why}", f"**{VERDICTS[one.verdict]}**")
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
