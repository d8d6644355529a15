"""The report: one frontier document becomes a page, a chart and a table for the eyes of the publisher.

Everything here is a function of the document alone. The drawing libraries are loaded when something is drawn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from sfumato.trials.frontier import Frontier
    from sfumato.trials.recommendation import Recommendation

__all__ = ["write", "write_report"]


def write_report(frontier: Frontier, folder: str | Path, recommendation: Recommendation | None = None) -> list[Path]:
    """Write the report of a frontier, its chart and its tables into a folder, for the publisher's eyes."""
    from sfumato.trials.document import document

    return write(document(frontier, recommendation or frontier.recommend()), folder)


def write(document: dict[str, Any], folder: str | Path) -> list[Path]:
    """Write `report.html`, `frontier.json`, `frontier.csv`, `frontier.png` and `frontier.svg` into the folder."""
    from sfumato.report.files import write_all

    return write_all(document, folder)
