"""The codebook of a release: made of its description alone, compared byte for byte, and missing in old folders."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from sfumato.data import read
from sfumato.methods import DiffMulti, Mondrian, Original
from sfumato.release import load_release
from sfumato.release.codebook import codebook
from sfumato.release.envelope import CODEBOOK, Envelope
from sfumato.release.verification import verify_folder
from sfumato.release.written import compare_writing
from sfumato.samples.town import SCHEMA_PATH, residents
from sfumato.schema import Schema

SCHEMA = Schema.load(SCHEMA_PATH)
OLD = Path(__file__).parent / "old"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Mondrian(k=5).publish(read(residents(300), SCHEMA)).save(tmp_path_factory.mktemp("release") / "r")


def faults(folder: Path) -> tuple[str, ...]:
    return verify_folder(folder, load_release(folder)).contradictions


def lines(folder: Path) -> dict[str, list[str]]:
    """The cells of each column's line."""
    rows = [line[2:-2].split(" | ") for line in (folder / CODEBOOK).read_text().splitlines() if line[:2] == "| "]
    return {row[0]: row for row in rows[1:]}


def test_every_published_column_has_a_line(folder: Path) -> None:
    published = SCHEMA.public().columns
    assert list(lines(folder)) == [column.name.replace("_", "\\_") for column in published]
    assert all(cells[2] == column.role for cells, column in zip(lines(folder).values(), published, strict=True))
    assert "generalized" in lines(folder)["age"][6]
    assert lines(folder)[SCHEMA.sensitive.name][6] == "as it is"


def test_it_follows_from_the_description_alone(folder: Path) -> None:
    assert codebook(Envelope.read(folder)) == (folder / CODEBOOK).read_text()


@pytest.mark.parametrize(
    ("method", "column", "how"),
    [
        (Original(), "age", "as it is"),
        (Mondrian(k=3, recoding="bucketize"), "age", "as it is"),
        (DiffMulti(epsilon=1.0, h=2), "age", "grouped into boxes, which have noisy counts"),
        (DiffMulti(epsilon=1.0, h=2), "count", ""),
    ],
)
def test_it_says_how_values_are_published(tmp_path: Path, method: object, column: str, how: str) -> None:
    schema = dataclasses.replace(SCHEMA, columns=tuple(dataclasses.replace(c, from_data=()) for c in SCHEMA.columns))
    release = method.publish(read(residents(300), schema))  # type: ignore[attr-defined]
    saved = release.save(tmp_path / "release")
    assert lines(saved)[column][6] == how
    assert faults(saved) == () or not release.claim.promises


def test_another_codebook_is_found_and_none_is_none_the_worse(folder: Path) -> None:
    assert faults(folder) == ()
    text = (folder / CODEBOOK).read_text()
    for other in (text + "Alice has cancer\n", text.replace("generalized", "generalised"), ""):
        (folder / CODEBOOK).write_text(other)
        assert faults(folder) == (f"{CODEBOOK} is not what the program writes of such a release",)
    (folder / CODEBOOK).unlink()
    assert faults(folder) == ()
    (folder / CODEBOOK).symlink_to("/etc/hostname")
    assert any("link" in fault for fault in faults(folder))
    (folder / CODEBOOK).unlink()
    (folder / CODEBOOK).write_text(text)


def test_of_another_version_it_is_not_compared(folder: Path) -> None:
    path, text = folder / "release.json", (folder / "release.json").read_text()
    spec = json.loads(text)
    path.write_text(text.replace(spec["version"], "0.1.9"))
    found = compare_writing(folder, load_release(folder))
    path.write_text(text)
    assert found.contradictions == ()
    assert any(CODEBOOK in line for line in found.unseen)


@pytest.mark.parametrize("old", ["table", "flows"])
def test_old_folders_have_none(old: str) -> None:
    assert not (OLD / old / CODEBOOK).exists()
    assert not any(CODEBOOK in fault for fault in faults(OLD / old))


def test_names_cannot_break_the_table(tmp_path: Path) -> None:
    odd = "a|b\n<i>`*_"
    columns = {
        odd: {"role": "quasi", "kind": "categorical", "values": ["x|y", "<b>", "# z"]},
        "ill": {"role": "sensitive", "kind": "categorical", "values": ["no", "yes"]},
    }
    table = read({odd: ["x|y", "<b>"], "ill": ["no", "yes"]}, {"columns": columns})
    saved = Original().publish(table).save(tmp_path / "release")
    rows = [line for line in (saved / CODEBOOK).read_text().splitlines() if line.startswith("| a")]
    assert len(rows) == 1
    assert rows[0].replace("\\|", "").count("|") == 9
    assert "<" not in rows[0].replace("\\<", "")
