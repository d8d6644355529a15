"""A table of made-up people to run commands on, and a way to run them in this process."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from sfumato.cli import main

if TYPE_CHECKING:
    from pathlib import Path

SCHEMA = """\
name = "people"

[columns.name]
role = "identifier"

[columns.age]
role = "quasi"
kind = "numeric"
min = 0
max = 99

[columns.sex]
role = "quasi"
kind = "categorical"
values = ["Female", "Male"]

[columns.town]
role = "quasi"
kind = "categorical"
taxonomy = { Coast = ["Fish Quay", "Harbour"], Inland = ["Mill", "Orchard", "Vineyard"] }

[columns.disease]
role = "sensitive"
kind = "categorical"
taxonomy = { none = [], infectious = ["flu", "cold"], chronic = ["asthma", "diabetes"] }
"""
TOWNS = ("Fish Quay", "Harbour", "Mill", "Orchard", "Vineyard")
DISEASES = ("none", "none", "none", "flu", "cold", "cold", "asthma", "diabetes")
ROWS = 240


def people_csv() -> str:
    """The same made-up people each time."""
    generator = random.Random(5)
    lines = [
        f"person {number},{generator.randrange(100)},{generator.choice(['Female', 'Male'])},"
        f"{generator.choice(TOWNS)},{generator.choice(DISEASES)}"
        for number in range(ROWS)
    ]
    return "\n".join(["name,age,sex,town,disease", *lines]) + "\n"


@pytest.fixture
def people(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with people.csv and people.toml, which is also where commands run."""
    (tmp_path / "people.csv").write_text(people_csv())
    (tmp_path / "people.toml").write_text(SCHEMA)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@dataclass(frozen=True)
class Outcome:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Outcome]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command in this process."""

    def run_command(*arguments: str | Path) -> Outcome:
        code = main(list(map(str, arguments)))
        captured = capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    return run_command


@pytest.fixture
def publish(run: Run, people: Path) -> Run:
    """Publish the people to a folder, with further options."""

    def run_publish(release: str, *options: str) -> Outcome:
        return run("publish", "people.csv", "--schema", "people.toml", "-o", release, *options)

    return run_publish
