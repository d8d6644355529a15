"""Numbers are written with the digits that help to compare them."""

from __future__ import annotations

import pytest

from sfumato.report.numbers import NumberStyle, axis_unit, format_unit, plain

PLAIN = "of at most 0.693"
SHARE = "share of people"


@pytest.mark.parametrize(
    ("unit", "values", "value", "text"),
    [
        (PLAIN, [0.2, 0.31, None, 0.0], 0.31234, "0.312"),
        (PLAIN, [0.2, 0.31], 12.5, "12.500"),
        (PLAIN, [0.02, 0.01], 0.012345, "0.0123"),
        (PLAIN, [12.5, 99.1], 45.678, "45.7"),
        (PLAIN, [1234.5, 9876.1], 4321.9, "4,322"),
        (PLAIN, [1, 5000, 20.0], 5000, "5,000"),
        (PLAIN, [1, 2], None, "–"),
        (PLAIN, [None, None], None, "–"),
        (PLAIN, [0.2, 0.3], -0.25, "−0.250"),
        (PLAIN, [0.2, 0.3], 0.0, "0.000"),
        (PLAIN, [0.2, 0.3], -0.0, "0.000"),
        (PLAIN, [0.2, 0.3], 0.0004, "<0.001"),
        (PLAIN, [0.2, 0.3], 0.0006, "0.001"),
        (PLAIN, [0.2, 0.3], -0.0004, ">−0.001"),
        (SHARE, [0.2, 0.31], 0.3721, "37.2%"),
        (SHARE, [0.2, 0.31], 0.00001, "<0.1%"),
        ("relative error", [0.2, 0.31], 0.2268, "22.7%"),
        ("share", [0.2, 0.31], 0.0478, "4.8%"),
    ],
)
def test_a_value_is_written_in_the_style_of_its_column(
    unit: str, values: list[float | None], value: float | None, text: str
) -> None:
    assert NumberStyle.of(unit, values).text(value) == text


def test_reference_values_are_written_shortly() -> None:
    assert plain(0.16, PLAIN) == "0.16"
    assert plain(0.0, PLAIN) == "0"
    assert plain(-1, PLAIN) == "−1"
    assert plain(5000, PLAIN) == "5,000"
    assert plain(0.455, SHARE) == "45.5%"
    assert plain(1, SHARE) == "100%"


def test_a_share_names_what_it_is_of() -> None:
    assert (format_unit(SHARE), axis_unit(SHARE)) == ("of people", "% of people")
    assert (format_unit(PLAIN), axis_unit(PLAIN)) == (PLAIN, PLAIN)
    assert (format_unit("share"), axis_unit("share")) == ("", "%")
    assert (format_unit("relative error"), axis_unit("relative error")) == ("", "%")


def test_a_repeated_value_has_its_interval_in_words() -> None:
    style = NumberStyle.of(PLAIN, [0.2, 0.31])
    assert style.with_interval(0.2, (0.1, 0.3)) == "0.200 (0.100 to 0.300)"
    assert (style.with_interval(0.2, None), style.interval(None)) == ("0.200", "")
    assert style.with_interval(0.2, (0.1999, 0.2001)) == "0.200"
