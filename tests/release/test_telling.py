"""Sensitive labels that tell quasi-identifiers, and labels whose numbers mean something else."""

from __future__ import annotations

import polars as pl
import pytest

from sfumato.data import read
from sfumato.methods import FullSuppression
from sfumato.release.telling import telling_labels
from sfumato.schema import Schema

PEOPLE = 60


def told(labels: tuple[str, ...]) -> list[str]:
    """What is found in such labels, some people each, beside two columns of numbers and one of names."""
    quasi = {
        "age": {"role": "quasi", "kind": "numeric", "min": 0, "max": 99},
        "hours": {"role": "quasi", "kind": "numeric", "min": 10, "max": 80},
        "sex": {"role": "quasi", "kind": "categorical", "values": ["Female", "Male"]},
    }
    secret = {"secret": {"role": "sensitive", "kind": "categorical", "values": list(labels)}}
    rows = {
        "age": [20 + number % 50 for number in range(PEOPLE)],
        "hours": [10 + number % 40 for number in range(PEOPLE)],
        "sex": [("Female", "Male")[number % 2] for number in range(PEOPLE)],
        "secret": [labels[number % len(labels)] for number in range(PEOPLE)],
    }
    table = read(pl.DataFrame(rows), Schema.parse({"name": "people", "columns": quasi | secret}))
    return telling_labels(FullSuppression()._publish(table, None))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "labels",
    [
        ("<=20", "20-30", "30-40", ">40"),
        ("120/80", "90/60", "15/10"),
        ("0<20", "20<40"),
        ("20=30", "30=40"),
        ("A15.0", "B20", "stage 30"),
        ("20 to 30 thousand", "30 to 40 thousand"),
        ("1|agree", "2|disagree", "20|agree with all"),
        ("20;30", "20;40", "30;30", "30;40"),
        ("age 20-29", "age 30-39", "age 40-49"),
        ("Male doctor", "Female doctor"),
    ],
)
def test_numbers_may_mean_something_else(labels: tuple[str, ...]) -> None:
    assert told(labels) == []


@pytest.mark.parametrize(
    "labels",
    [
        ("flu|30|12", "cold|31|40", "flu|32|13", "cold|33|14"),
        ("flu 30 Male", "cold 31 Female", "cold 30 Male", "flu 33 Female"),
        ("flu (age 30)", "cold (age 31)", "flu (age 32)", "cold (age 33)"),
        ("age=30 hours=12 flu", "age=31 hours=13 flu", "age=30 hours=12 cold", "age=33 hours=13 cold"),
        ("Male;flu", "Female;flu", "Male;cold", "Female;cold"),
    ],
)
def test_numbers_beside_what_names_them_tell(labels: tuple[str, ...]) -> None:
    assert len(told(labels)) == len(labels)
