"""Releases written where Spark's file systems know: whole or not at all, and the same as in a folder of our own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engines import MASTER, session
from sfumato.cli import app
from sfumato.data import Table, read
from sfumato.data.spark import places
from sfumato.errors import ParameterError, ReleaseError
from sfumato.files import address_of
from sfumato.methods import KDTree, Mondrian
from sfumato.privacy.ledger import Ledger
from sfumato.publish.publication import publish_to
from sfumato.release import Release
from sfumato.samples.town import SCHEMA_PATH, residents


@pytest.fixture(scope="module")
def people() -> Table:
    return read(residents(300), SCHEMA_PATH)


@pytest.mark.parametrize(
    ("given", "address"),
    [
        ("hdfs://host/a b/c", "hdfs://host/a b/c"),
        (Path("hdfs://host:8020/a"), "hdfs://host:8020/a"),
        (Path("s3a://bucket/a"), "s3a://bucket/a"),
        ("file:///tmp/a", "file:///tmp/a"),
        (Path("file:///tmp/a"), "file:///tmp/a"),
        ("out", None),
        (Path("/tmp/out"), None),
        ("c:/out", None),
        ("a/hdfs://b", None),
        ("notes: mine", None),
    ],
)
def test_an_address_is_known_from_a_path(given: Path | str, address: str | None) -> None:
    assert address_of(given) == address


def test_an_address_without_spark_is_refused(people: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places.SparkSession, "getActiveSession", lambda: None)
    with pytest.raises(ParameterError, match=r"s3a://bucket/a: this is no folder of this machine; Spark writes there"):
        publish_to(Mondrian(k=5), people, "s3a://bucket/a")


@pytest.mark.spark
def test_a_release_is_the_same_wherever_it_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    session()
    residents(300).write_csv(tmp_path / "people.csv")
    arguments = ["publish", str(tmp_path / "people.csv"), "--schema", str(SCHEMA_PATH), "--method", "mondrian"]
    arguments += ["--k", "5", "--engine", "spark", "--master", MASTER, "-o"]
    there = tmp_path / "store" / "a b" / "release"
    assert app.run([*arguments, f"file://{there}"]) == 0
    assert f"in file://{there}." in capsys.readouterr().out
    assert app.run([*arguments, str(tmp_path / "here")]) == 0
    written = {path.name: path.read_bytes() for path in there.iterdir()}
    assert written == {path.name: path.read_bytes() for path in (tmp_path / "here").iterdir()}
    assert [path.name for path in there.parent.iterdir()] == ["release"], "nothing hidden stays"
    assert app.run(["verify", str(there)]) == 0
    assert app.run([*arguments, f"file://{there}"]) == 2
    assert f"file://{there}: this already exists" in capsys.readouterr().err
    assert app.run([*arguments, "nowhere://host/release"]) == 2
    assert "nowhere://host/release: the release cannot be written (" in capsys.readouterr().err


@pytest.mark.spark
@pytest.mark.parametrize("step", ["_copy", "_rename"])
@pytest.mark.parametrize("error", [KeyboardInterrupt, ReleaseError], ids=lambda error: error.__name__)
def test_nothing_stays_of_what_goes_wrong(
    people: Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, error: type[BaseException]
) -> None:
    """Neither in the first step of its kind nor in the last; what was reserved stays spent."""
    session()
    right = getattr(places._Files, step)
    ledger = Ledger(tmp_path / "ledger.sqlite")
    for wrong_at in (1, 2):
        done = 0

        def going_wrong(self: Any, *places: Any, at: int = wrong_at) -> None:
            nonlocal done
            done += 1
            right(self, *places)
            if done == at:
                raise error

        monkeypatch.setattr(places._Files, step, going_wrong)
        with pytest.raises(error):
            publish_to(KDTree(epsilon=1), people, f"file://{tmp_path}/store/release", ledger=ledger)
        assert list((tmp_path / "store").iterdir()) == []
    assert [entry.state for entry in ledger.entries()] == ["reserved"] * 2
    monkeypatch.setattr(places._Files, step, right)
    _, folder = publish_to(KDTree(epsilon=1), people, f"file://{tmp_path}/store/release", ledger=ledger)
    assert address_of(folder) == f"file://{tmp_path}/store/release"
    assert Release.load(tmp_path / "store" / "release").violations() == []
    assert ledger.entries()[-1].folder == f"file://{tmp_path}/store/release"
