"""The report: one frontier document becomes a page, a chart and a table for the eyes of the publisher.

Everything here is a function of the document alone. The drawing libraries are loaded when something is drawn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["write"]


def write(document: dict[str, Any], folder: str | Path) -> list[Path]:
    """Write `report.html`, `frontier.json`, `frontier.csv`, `frontier.png` and `frontier.svg` into the folder."""
    from sfumato.report.files import write_all

    return write_all(document, folder)
