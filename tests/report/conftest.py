"""Documents and pages that several tests look at; drawing is slow, so each is made once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from .document import frontier_document, typed

if TYPE_CHECKING:
    from pathlib import Path


def page_of(document: dict[str, Any]) -> str:
    from sfumato.report.charts import draw_svg
    from sfumato.report.frontier.chart import frontier_chart
    from sfumato.report.frontier.page import page

    made = typed(document)
    chart = frontier_chart(made, *made.default_pair)
    return page(made, chart, draw_svg(chart))


@pytest.fixture
def document() -> dict[str, Any]:
    return frontier_document()


@pytest.fixture(scope="session")
def nasty_page() -> str:
    return page_of(frontier_document(nasty=True))


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files of a report."""
    from sfumato.report.frontier.page import write

    path = tmp_path_factory.mktemp("report") / "new" / "folder"
    write(typed(frontier_document()), path)
    return path
