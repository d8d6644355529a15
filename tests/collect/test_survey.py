"""Surveys: what their files may say, that nothing is lost on the way to a browser and back, and when they end."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from sfumato.collect.survey import Survey, read_survey
from sfumato.errors import ParameterError
from sfumato.mechanisms.channels import CHANNELS

if TYPE_CHECKING:
    from pathlib import Path

SPEC = {"name": "visits", "question": "How often?", "min": 10, "max": 30, "step": 2, "epsilon": 1, "smallest_batch": 50}


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"epsilon": -1}, "epsilon is -1"),
        ({"epsilon": 0}, "epsilon is 0"),
        ({"epsilon": True}, "epsilon is True"),
        ({"epsilon": "1e-20000000"}, "epsilon is "),
        ({"epsilon": 1e-100}, "epsilon is 1e-100"),
        ({"epsilon": "much"}, "epsilon is 'much'"),
        ({"epsilon": "1/0"}, "epsilon is '1/0'"),
        ({"max": 31}, "max is 31; expected a whole number of steps of 2 above 10"),
        ({"max": 8}, "max is 8; expected a whole number of steps of 2 above 10"),
        ({"max": 30.0}, "max is 30.0; expected a whole number"),
        ({"max": 2**53}, "max is 9007199254740992; expected a whole number below 2^53"),
        ({"max": 900_000_000}, "values are too many for a survey"),
        ({"step": 0}, "step is 0; expected at least 1"),
        ({"mechanism": "gauss"}, "'gauss' is not a known mechanism"),
        ({"mechanism": []}, "[] is not a known mechanism"),
        ({"steps": 2}, "'steps' is not part of a survey"),
        ({"ends": 5}, "ends is 5; expected a date"),
        ({"ends": "soon"}, "ends is 'soon'; expected a date"),
        ({"name": "Our Visits"}, "expected up to 64 lowercase letters"),
        ({"name": "x" * 65}, "expected up to 64 lowercase letters"),
        ({"question": ""}, "the question of 'visits' must be Unicode text"),
        ({"question": "x" * 501}, "must be Unicode text of 1 to 500 characters"),
        ({"question": "\ud800"}, "must be Unicode text of 1 to 500 characters"),
        ({"smallest_batch": 0}, "smallest_batch is 0"),
    ],
)
def test_a_survey_that_cannot_be_is_refused(changed: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ParameterError) as refused:
        Survey.parse({**SPEC, **changed})
    assert sentence in str(refused.value)


@pytest.mark.parametrize("key", ["name", "question", "min", "max", "epsilon"])
def test_what_is_missing_is_named(key: str) -> None:
    with pytest.raises(ParameterError, match=f"^the survey has no '{key}'; expected name, question, min"):
        Survey.parse({other: value for other, value in SPEC.items() if other != key})


@pytest.mark.parametrize("mechanism", CHANNELS)
@pytest.mark.parametrize("epsilon", ["1/2", 0.1, 3, "0.30000000000000004"])
@pytest.mark.parametrize("ends", [None, "2031-01-31", "2031-01-31T12:00:00+02:00"])
def test_a_survey_comes_back_as_it_was_sent(mechanism: str, epsilon: Any, ends: str | None) -> None:
    survey = Survey.parse({**SPEC, "mechanism": mechanism, "epsilon": epsilon, "ends": ends})
    again = Survey.parse(json.loads(json.dumps(survey.spec())))
    assert again.spec() == survey.spec()
    assert again.channel.exact_epsilon == Fraction(str(epsilon))
    assert (again.ends, again.size, again.lowest_report) == (survey.ends, 11, survey.lowest_report)
    other = Survey.parse({**survey.spec(), "epsilon": "1/3"})
    assert other.spec() != survey.spec()


@pytest.mark.parametrize("mechanism", CHANNELS)
def test_reports_lie_on_the_grid_between_the_lowest_and_the_highest(mechanism: str) -> None:
    survey = Survey.parse({**SPEC, "mechanism": mechanism})
    reports = survey.perturb(np.repeat(survey.answers(), 500))
    assert set(reports.tolist()) <= set(range(survey.lowest_report, survey.highest_report + 1, 2))
    beyond = 10 - survey.lowest_report
    assert (beyond > 0) == (mechanism == "square-wave")
    assert survey.highest_report - 30 == beyond


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_a_survey_is_read_from_a_file(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "visits.toml"
    lines = [f"{key} = {json.dumps(value)}" for key, value in SPEC.items()]
    path.write_text("\n".join([*lines, "ends = 2020-01-31"]), encoding=encoding)
    survey = read_survey(path)
    assert survey.answers().tolist() == list(range(10, 31, 2))
    assert str(survey.ends) == "2020-01-31 00:00:00+00:00"
    assert not survey.is_open()


@pytest.mark.parametrize("text", ["min = ", b"\xff\xfe", "name = 'a'\nname = 'b'"])
def test_a_file_that_is_no_survey_is_named(tmp_path: Path, text: str | bytes) -> None:
    path = tmp_path / "visits.toml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    with pytest.raises(ParameterError) as refused:
        read_survey(path)
    assert str(refused.value).startswith((f"{path}: not valid TOML, ", f"{path}: the survey cannot be read as UTF-8"))
    with pytest.raises(ParameterError, match=r"nothing\.toml: the survey does not exist"):
        read_survey(tmp_path / "nothing.toml")


def test_a_survey_is_open_until_it_ends() -> None:
    survey = Survey.parse({**SPEC, "ends": "2031-01-31"})
    end = datetime(2031, 1, 31, tzinfo=UTC)
    assert survey.is_open(end.replace(year=2030))
    assert not survey.is_open(end)
    assert Survey.parse(SPEC).is_open(end.replace(year=9999))


def test_too_few_reports_are_refused() -> None:
    Survey.parse(SPEC).refuse_few(50)
    with pytest.raises(ParameterError, match="has 49 reports; expected at least 50 before anything is shown"):
        Survey.parse(SPEC).refuse_few(49)


@pytest.mark.parametrize("mechanism", CHANNELS)
def test_no_unit_makes_a_report_worth_less(mechanism: str) -> None:
    """Tenths of years at a tenth of ε are the same noise on the same range; where ε is for any two values it counts."""
    years = Survey.parse({**SPEC, "min": 0, "max": 199, "step": 1, "mechanism": mechanism, "epsilon": "1/2"})
    tenths = Survey.parse({**SPEC, "min": 0, "max": 1999, "step": 1, "mechanism": mechanism, "epsilon": "1/20"})
    per_step = mechanism in ("geometric", "laplace")
    assert years.worth == (1 if per_step else Fraction(1, 2))
    assert tenths.worth == (years.worth if per_step else Fraction(1, 20))
    few = Survey.parse({**SPEC, "mechanism": mechanism})
    assert few.worth == few.epsilon == 1
