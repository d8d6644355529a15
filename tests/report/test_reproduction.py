"""The pages of a reproduction: statements first, every figure as chart and table, nothing loaded from elsewhere."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from sfumato.report.reproduction.charts import panel_chart
from sfumato.report.reproduction.document import (
    ExperimentEntry,
    Mark,
    Panel,
    PaperEntry,
    Reproduction,
    Row,
    StatementEntry,
)
from sfumato.report.reproduction.page import TOGETHER, row_table, write
from sfumato.reproduce.summary import write_summary

from .browser import Browser, needs_browser
from .test_page import Outline, remote_references

if TYPE_CHECKING:
    from pathlib import Path

NASTY = "</script><b>|ℓ & “t”"
ROWS = [
    Row(series="one", setting={"k": 10}, values={"p": 0.1, "u": 0.9}, intervals={"u": (0.8, 1.0)}, seeds=3, seconds=1),
    Row(series="one", setting={"k": 50}, values={"p": 0.2, "u": 0.5}, seeds=3, seconds=1),
    Row(series=NASTY, setting={"k": 10}, values={"p": 0.3, "u": 0.6}, seeds=1, seconds=0.5),
    Row(series="refused", setting={"k": 90}, values={}),
]
MARKS = (Mark(text="printed", x=0.15, y=0.7), Mark(text="level", y=0.4), Mark(text="upright", x=0.25))
PANEL = Panel(name="figure-1", title="Figure 1", x="p", y="u", x_title="P", y_title="U", printed=MARKS, efficient=True)


def statement(verdict: str, paper: str) -> StatementEntry:
    return StatementEntry(
        paper=paper,
        place="section 1",
        says=f"it {verdict} {NASTY}",
        printed="0.5",
        measured="0.4 | 0.5",
        verdict=verdict,
        why="because",
        command=f"sfumato reproduce {paper} --figure 1",
        experiment="figure-1",
    )


def paper(name: str) -> PaperEntry:
    experiment = ExperimentEntry(
        name="figure-1", title="Figure 1", shows="what", command="sfumato reproduce", panels=(PANEL,), rows=ROWS
    )
    verdicts = ("holds", "holds", "fails", "open")
    return PaperEntry(
        name=name,
        title=f"About {NASTY}",
        reference="Somebody, 2009",
        stand_in="Rhode Island stands in for Minnesota.",
        experiments=[experiment],
        statements=[statement(one, name) for one in verdicts],
    )


DOCUMENT = Reproduction(quick=True, first_seed=1, papers=[paper("li2009"), paper(TOGETHER)])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("reproduction")
    write(DOCUMENT, path)
    write_summary(DOCUMENT, path)
    return path


def test_every_figure_is_there_as_picture_drawing_and_table(folder: Path) -> None:
    for name in ("li2009", TOGETHER):
        assert {path.name for path in (folder / name).iterdir()} == {"figure-1.csv", "figure-1.png", "figure-1.svg"}
    assert (folder / "li2009" / "figure-1.png").read_bytes().startswith(b"\x89PNG")
    names = {"index.html", "li2009.html", "together.html", "statements.csv", "reproduction.json", "reproduction.md"}
    assert {path.name for path in folder.iterdir() if path.is_file()} == names


@pytest.mark.parametrize("name", ["index.html", "li2009.html"])
def test_a_page_needs_nothing_else_and_names_stay_names(folder: Path, name: str) -> None:
    text = (folder / name).read_text(encoding="utf-8")
    assert remote_references(text) == []
    outline = Outline(text)
    assert outline.elements[[tag for tag, _ in outline.elements].index("body") + 1][1]["class"] == "banner open"
    assert not outline.all("b", **{})[2:], "a name became markup"
    assert NASTY in outline.text
    assert "A quick run" in outline.text


def test_the_first_page_has_all_statements_before_all_figures(folder: Path) -> None:
    outline = Outline((folder / "index.html").read_text(encoding="utf-8"))
    rows = [row for row in outline.all("tr") if "data-verdict" in row]
    assert [row["data-verdict"] for row in rows] == ["holds", "holds", "fails", "open"] * 2
    tags = [tag for tag, _ in outline.elements]
    assert tags.index("table") < tags.index("figure")
    assert {link["href"] for link in outline.all("a")} == {"li2009.html", "together.html"}
    assert [place["data-chart"] for place in outline.all("div", **{"class": "chart"})] == ["together/figure-1"]


def test_the_page_of_a_paper_has_its_own_statements_and_figures(folder: Path) -> None:
    outline = Outline((folder / "li2009.html").read_text(encoding="utf-8"))
    assert len([row for row in outline.all("tr") if "data-verdict" in row]) == 4
    assert "Rhode Island stands in for Minnesota." in outline.text
    assert "0.9 (0.8 to 1)" in outline.text
    assert list(json.loads(outline.scripts["charts"])) == ["li2009/figure-1"]


def test_the_chart_has_a_point_for_each_row_with_both_values_and_all_that_is_printed() -> None:
    spec = panel_chart(PANEL, ROWS, "caution").to_dict()
    texts = {row["text"] for rows in spec["datasets"].values() for row in rows if "text" in row}
    assert texts == {"printed", "level", "upright"}
    rows = next(layer for layer in spec["layer"] if layer.get("name") == "rows")
    assert len(spec["datasets"][rows["data"]["name"]]) == 3
    only = panel_chart(replace(PANEL, only={"k": 50}), ROWS, "caution").to_dict()
    rows = next(layer for layer in only["layer"] if layer.get("name") == "rows")
    assert [row["x"] for row in only["datasets"][rows["data"]["name"]]] == [0.2]


def test_rows_keep_their_intervals_as_columns() -> None:
    lines = list(csv.DictReader(row_table(ROWS).splitlines()))
    assert lines[0] == {
        **{"series": "one", "k": "10", "p": "0.1", "p_low": "", "p_high": "", "u": "0.9", "u_low": "0.8"},
        **{"u_high": "1.0", "seeds": "3", "seconds": "1"},
    }
    assert lines[2]["series"] == NASTY
    assert lines[3]["u"] == ""


def test_the_summary_counts_and_lists_everything(folder: Path) -> None:
    text = (folder / "reproduction.md").read_text(encoding="utf-8")
    assert "| all | 8 | 4 | 2 | 2 |" in text
    assert text.count("sfumato reproduce li2009") == 1
    assert "0.4 \\| 0.5 *because*" in text
    assert "A quick run" in text


@pytest.mark.usefixtures("folder")
class TestBrowser:
    pytestmark = needs_browser

    def test_charts_are_drawn_and_statements_filtered(self, folder: Path) -> None:
        with Browser() as browser:
            browser.goto((folder / "li2009.html").as_uri())
            browser.wait("document.querySelector('.chart').dataset.drawn === 'yes'")
            shown = "[...document.querySelectorAll('#statements tbody tr')].filter((row) => !row.hidden).length"
            assert browser.evaluate(shown) == 4
            browser.evaluate("document.querySelector('button[data-verdict=fails]').click()")
            assert browser.evaluate(shown) == 1
            browser.evaluate("document.querySelector('button[data-verdict=\"\"]').click()")
            assert browser.evaluate(shown) == 4
            assert browser.errors == []
