"""The picture of the noise on the participant's page: its probabilities, its symmetry and its labels."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import TYPE_CHECKING

import pytest

from sfumato.mechanisms.channels import TruncatedGeometric

from ...report.browser import needs_browser
from .watching import opened

if TYPE_CHECKING:
    from .client import Client
    from .watching import WatchingBrowser

pytestmark = needs_browser


def test_typing_sends_nothing_and_draws_the_noise(page: WatchingBrowser, site: Client) -> None:
    opened(page, site, site.add_survey(epsilon="1/5"))
    before = len(page.wire)
    page.type("#value", "20")
    page.wait("document.querySelector('#picture svg').ariaLabel.includes('answer is 20')")
    assert len(page.wire) == before
    chances = page.evaluate("""import("/assets/noise.js").then(({ chances }) =>
      chances({ min: 0, max: 99, step: 1, epsilon: "1/5" }, 20))""")
    row = TruncatedGeometric(size=100, epsilon=Fraction(1, 5)).matrix()[20]
    assert [(value, many) for value, _, many in chances] == [(value, 1) for value in range(100)]
    assert [chance for _, chance, _ in chances] == pytest.approx(row.tolist(), rel=1e-9)
    # P(|noise| ≤ 11) = 0.900, P(|noise| ≤ 10) = 0.878 with α = e^(−0.2).
    said = page.text("protection")
    assert "lies at most 11 from the answer" in said
    assert "two answers that are 3 apart could both have led to it, one making it at most 1.8 times" in said


@pytest.mark.parametrize("code", [0, 1, 2, 3, 57, 58, 97, 99])
def test_columns_of_several_numbers_are_symmetric_around_the_answer(
    page: WatchingBrowser, site: Client, code: int
) -> None:
    opened(page, site, site.add_survey())
    survey = "{ min: 10, max: 307, step: 3, epsilon: '1/5' }"
    columns = page.evaluate(f"import('/assets/noise.js').then(({{ chances }}) => chances({survey}, {code}, 5))")
    row = TruncatedGeometric(size=100, epsilon=Fraction(1, 5)).matrix()[code]
    first = 0
    for middle, chance, many in columns:
        assert middle == 10 + 3 * (first + (many - 1) / 2)
        assert chance == pytest.approx(row[first : first + many].sum(), rel=1e-9)
        first += many
    assert first == 100
    answer = 10 + 3 * code
    if 2 <= code <= 97:
        assert (answer, 5) in [(middle, many) for middle, _, many in columns]
    inner = {middle: chance for middle, chance, _ in columns[1:-1]}
    for middle, chance in inner.items():
        assert inner.get(2 * answer - middle, chance) == pytest.approx(chance, rel=1e-9)


@pytest.mark.parametrize(("width", "high", "together"), [(1200, 120, 1), (360, 120, 1), (1200, 999, 5), (360, 999, 7)])
def test_the_picture_is_symmetric_around_the_answer(
    page: WatchingBrowser, site: Client, width: int, high: int, together: int
) -> None:
    opened(page, site, site.add_survey(max=high, epsilon="1/3"), width=width)
    page.type("#value", "60")
    page.wait("document.querySelector('#picture svg').ariaLabel.includes('answer is 60')")
    path, line = page.evaluate("""[document.querySelector('#picture .bars').getAttribute('d'),
      document.querySelector('#picture .answer').getAttribute('x1')]""")
    columns = [re.split(r"[ MVH]", one)[1:5] for one in path.split("Z")[:-1]]
    tallest = min(columns, key=lambda column: float(column[2]))
    assert (float(tallest[0]) + float(tallest[3])) / 2 == pytest.approx(float(line), abs=0.02)
    place = columns.index(tallest)
    for distance in range(1, min(6, place)):
        left, right = columns[place - distance], columns[place + distance]
        assert float(left[2]) == pytest.approx(float(right[2]), abs=0.02)
        assert float(line) - float(left[0]) == pytest.approx(float(right[3]) - float(line), abs=0.03)
    assert (f"A column stands for {together} numbers." in page.text("caption")) == (together > 1)


@pytest.mark.parametrize("width", [360, 1200])
@pytest.mark.parametrize(
    ("low", "high", "step"), [(0, 99, 1), (0, 10_000, 500), (0, 2000, 1), (-(2**53) + 1, -(2**53) + 100_001, 10)]
)
def test_labels_are_neither_cut_nor_written_over_each_other(
    page: WatchingBrowser, site: Client, width: int, low: int, high: int, step: int
) -> None:
    opened(page, site, site.add_survey(min=low, max=high, step=step, epsilon=0.02), width=width)
    left, right, *places = page.evaluate("""[document.querySelector('#picture svg').getBoundingClientRect(),
      ...[...document.querySelectorAll('#picture text:not(.name)')].map(label => label.getBoundingClientRect())]
      .flatMap(({ left, right }) => [left, right])""")
    assert len(places) >= 4
    assert left <= places[0]
    assert places == sorted(places)
    assert places[-1] <= right
