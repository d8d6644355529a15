"""Declared parameters: which values they take, what a refusal says, and how a setting is labelled."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import pytest

from sfumato.errors import ParameterError
from sfumato.parameters import check_parameters, declarations, label_of, parameter


@dataclass(frozen=True, kw_only=True)
class Base:
    share: float = parameter(help="a share", above=0, maximum=1, example=0.5, label=" of {:g}")

    def __post_init__(self) -> None:
        check_parameters(self)


@dataclass(frozen=True, kw_only=True)
class Setting(Base):
    size: int | None = parameter(default=None, help="a size", minimum=1, maximum=1_000, label=", size {}")
    cut: Literal["low", "high"] = parameter(default="low", help="a side", always=True)
    noise: float = parameter(default=0, help="noise", minimum=0, below=2)
    kind: str = parameter(default="a", help="a kind", choices=("a", "b"))
    strict: bool = parameter(default=False, help="whether it is strict")
    plain: str = "not declared"


SOUND: dict[str, Any] = {"share": 0.5}


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("share", [0, -1, 1.01, float("nan"), True, "0.5", None, 1j], "a number above 0 and at most 1"),
        ("size", [0, 1_001, 1.0, 2.5, True, "3", float("inf")], "a whole number from 1 to 1,000"),
        ("cut", ["middle", 0, ["low"]], "one of low, high"),
        ("noise", [-0.1, 2, 1e300, None], "a number of at least 0 and below 2"),
        ("kind", ["c", None], "one of a, b"),
        ("strict", [1, "yes", None], "true or false"),
    ],
)
def test_values_out_of_range_are_refused_in_one_sentence(name: str, values: list[Any], expected: str) -> None:
    for value in values:
        with pytest.raises(ParameterError) as caught:
            Setting(**{**SOUND, name: value})
        assert str(caught.value) == f"{name} is {value!r}; expected {expected}"


@pytest.mark.parametrize(
    "values",
    [
        {"share": 1},
        {"share": Fraction(1, 3)},
        {"size": None},
        {"size": 1_000},
        {"cut": "high"},
        {"noise": 1.99},
        {"strict": True},
        {"plain": 7},
    ],
)
def test_values_in_range_are_taken(values: dict[str, Any]) -> None:
    made = Setting(**{**SOUND, **values})
    assert {name: getattr(made, name) for name in values} == values


def test_a_long_value_is_shown_in_part() -> None:
    with pytest.raises(ParameterError, match=r"^cut is 'x{59}; expected one of low, high$"):
        Setting(**{**SOUND, "cut": "x" * 500})


def test_a_numpy_number_becomes_a_plain_one() -> None:
    made = Setting(share=np.float64(0.25), size=np.int64(3))
    assert (type(made.share), type(made.size)) == (float, int)
    with pytest.raises(ParameterError, match="size is"):
        Setting(share=0.5, size=np.float64(3))


def test_a_label_shows_what_differs_from_the_defaults() -> None:
    assert label_of(Setting(share=0.5)) == " of 0.5 cut=low"
    assert label_of(Setting(share=1, size=3, strict=True)) == " of 1, size 3 cut=low strict=True"


def test_declarations_follow_the_fields() -> None:
    found = {declared.name: declared for declared in declarations(Setting)}
    assert list(found) == ["share", "size", "cut", "noise", "kind", "strict"]
    assert [name for name, declared in found.items() if declared.required] == ["share"]
    assert [declared.kind for declared in found.values()] == [float, int, str, float, str, bool]
    assert [name for name, declared in found.items() if declared.optional] == ["size"]
    assert found["cut"].choices == ("low", "high")
