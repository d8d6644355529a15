"""A release folder says what the release says, tells nothing else, and is never half written or misread."""

import contextlib
import copy
import json
import os
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.data import read
from sfumato.errors import ReleaseError
from sfumato.methods.partition.anatomy import Anatomy
from sfumato.methods.partition.endpoints import FullSuppression, Original
from sfumato.methods.partition.mondrian import Mondrian
from sfumato.privacy.claims import NoGuarantee, Syntactic
from sfumato.privacy.requirements import EntropyLDiversity, KAnonymity
from sfumato.release import Boxes, Provenance, Release, load_release
from sfumato.schema import Schema
from strategies import TableCase, tables

COLUMNS: dict[str, Any] = {
    "name": {"role": "identifier"},
    "age": {"role": "quasi", "kind": "numeric", "min": 0, "max": 99, "nullable": True},
    "town": {"role": "quasi", "kind": "categorical", "taxonomy": {"north": ["a,b", 'q"'], "south": ["{c", "é"]}},
    "shoe": {"role": "ignore"},
    "disease": {"role": "sensitive", "kind": "categorical", "values": ["flu", "cold", "hiv"], "nullable": True},
}
SCHEMA = Schema.parse({"name": "people", "columns": COLUMNS})
KEEPING = Schema.parse({"name": "people", "columns": COLUMNS | {"note": {"role": "keep"}}})
PEOPLE = pl.DataFrame(
    {
        "name": list("klmnopqr"),
        "age": ["21", "22", "23", "24", "71", "72", None, "74"],
        "town": ["a,b", 'q"', "a,b", 'q"', "{c", "é", "{c", "é"],
        "shoe": [40, 41, 42, 43, 44, 45, 46, 47],
        "disease": ["flu", "cold", "flu", "hiv", "flu", None, "hiv", "cold"],
        "note": ["x", "", None, 'say "hi", then\nleave', "1", "2", "3", "4"],
    }
)
RECODINGS = ("generalize", "bucketize")
Tamper = Callable[[Path], None]


def published(k: int = 2, recoding: Any = "generalize", rows: pl.DataFrame = PEOPLE) -> Release:
    return Mondrian(k=k, recoding=recoding).publish(read(rows, SCHEMA))


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def saved(release: Release, **options: Any) -> dict[str, bytes]:
    with tempfile.TemporaryDirectory() as place:
        return contents(release.save(Path(place) / "release", **options))


def reloaded(release: Release, **options: Any) -> Release:
    with tempfile.TemporaryDirectory() as place:
        return Release.load(release.save(Path(place) / "release", **options))


def assert_says_the_same(one: Release, other: Release, points: np.ndarray[Any, Any]) -> None:
    assert one.schema.spec() == other.schema.spec()
    assert (one.layout, one.claim, one.provenance) == (other.layout, other.claim, other.provenance)
    assert one.violations() == other.violations()
    assert one.posteriors(points) == pytest.approx(other.posteriors(points), abs=1e-12)
    regions = Boxes.of_points(points)
    assert one.histograms_in(regions) == pytest.approx(other.histograms_in(regions), abs=1e-9)
    everything = Boxes.whole(one.schema.quasi)
    assert one.histograms_in(everything) == pytest.approx(other.histograms_in(everything), abs=1e-9)


def points_of(draw: st.DrawFn, drawn: TableCase) -> np.ndarray[Any, Any]:
    point = st.tuples(*(st.sampled_from(axis.codes) for axis in drawn.case.quasi))
    return np.array([row[:-1] for row in drawn.rows] + draw(st.lists(point, max_size=10)), dtype=np.int32)


@given(tables(), st.integers(1, 4), st.sampled_from(RECODINGS), st.booleans(), st.data())
def test_what_is_loaded_says_what_was_saved(
    drawn: TableCase, k: int, recoding: Any, parquet: bool, data: st.DataObject
) -> None:
    release = Mondrian(k=min(k, len(drawn.rows)), recoding=recoding).publish(drawn.table)
    again = reloaded(release, parquet=parquet).verified()
    assert_says_the_same(again, release, points_of(data.draw, drawn))
    too_strong = replace(release, claim=replace(release.claim, requirements=(KAnonymity(k=5),)))
    assert reloaded(too_strong).violations() == too_strong.violations()


@given(tables(), st.data())
def test_other_methods_come_back_too(drawn: TableCase, data: st.DataObject) -> None:
    table, points = drawn.table, points_of(data.draw, drawn)
    releases = [Original().publish(table), FullSuppression().publish(table)]
    if 2 * table.overall.max() <= table.n:
        releases.append(Anatomy(l=2).publish(table))
    for release in releases:
        again = reloaded(release)
        assert_says_the_same(again, release, points)
        assert saved(again) == saved(release)


@pytest.mark.parametrize("recoding", RECODINGS)
def test_order_tells_nothing(recoding: Any) -> None:
    release = published(recoding=recoding)
    expected = saved(release)
    assert saved(published(recoding=recoding, rows=PEOPLE.reverse())) == expected
    boxes = np.arange(len(release.boxes))[::-1]
    relabel = np.arange(len(release.histograms))[::-1]
    shuffled = replace(
        release,
        boxes=release.boxes[boxes],
        weights=release.weights[boxes],
        group_of=relabel[release.group_of[boxes]],
        histograms=release.histograms[relabel],
    )
    assert saved(shuffled) == expected
    other = replace(release, histograms=release.histograms[:, [1, 0, 2, 3]])
    assert saved(other) != expected


def test_bucket_numbers_depend_on_contents_alone() -> None:
    """Buckets that share their smallest point are ordered by what else is published in them."""
    points = np.array([[5, 0], [5, 0], [5, 0], [6, 0], [7, 0], [6, 0]], dtype=np.int32)
    group_of = np.array([0, 1, 2, 0, 1, 2])
    histograms = np.array([[1, 1, 0, 0], [1, 1, 0, 0], [1, 0, 1, 0]], dtype=float)
    release = Release(
        schema=SCHEMA,
        boxes=Boxes.of_points(points),
        weights=np.ones(6),
        group_of=group_of,
        histograms=histograms,
        claim=NoGuarantee(reason="a test"),
        provenance=Provenance(method="by hand"),
        layout="buckets",
    )
    assert reloaded(release).overall.tolist() == [3, 2, 1, 0]
    expected = saved(release)
    for relabel in ([0, 2, 1], [1, 0, 2], [2, 0, 1], [2, 1, 0], [1, 2, 0]):
        back = np.argsort(relabel)
        same = replace(release, group_of=np.array(relabel)[group_of], histograms=histograms[back])
        assert saved(same) == expected


def by_hand(boxes: Boxes, histograms: list[list[float]], schema: Schema = SCHEMA) -> Release:
    """A release with a histogram for each box."""
    counts = np.array(histograms, dtype=float)
    return Release(
        schema=schema,
        boxes=boxes,
        weights=counts.sum(axis=1),
        group_of=np.arange(len(boxes)),
        histograms=counts,
        claim=NoGuarantee(reason="a test"),
        provenance=Provenance(method="by hand"),
    )


def test_the_files_of_generalized_rows() -> None:
    old, young, child = (71, 74, True), (21, 23, False), (5, 5, False)
    boxes = Boxes.of_spans([[old, (2, 3, False)], [young, (0, 0, False)], [child, (1, 2, False)]])
    files = saved(by_hand(boxes, [[1, 0, 1, 1], [2, 0, 0, 0], [0, 1, 0, 0]]))
    assert sorted(files) == ["codebook.md", "data.csv", "release.json"]
    assert files["data.csv"].decode() == (
        "age,town,disease\n"
        '5,"{""q\\"""", ""{c""}",cold\n'
        '"[21, 23]","a,b",flu\n"[21, 23]","a,b",flu\n'
        '"[71, 74] or (missing)",south,flu\n"[71, 74] or (missing)",south,hiv\n'
        '"[71, 74] or (missing)",south,(missing)\n'
    )


def test_the_files_of_buckets() -> None:
    files = saved(published(k=4, recoding="bucketize"))
    assert sorted(files) == ["codebook.md", "quasi.csv", "release.json", "sensitive.csv"]
    assert files["quasi.csv"].decode() == (
        'age,town,bucket\n(missing),{c,1\n21,"a,b",2\n22,"q""",2\n23,"a,b",2\n24,"q""",2\n71,{c,1\n72,é,1\n74,é,1\n'
    )
    assert files["sensitive.csv"].decode() == (
        "bucket,disease,count\n1,flu,1\n1,cold,1\n1,hiv,1\n1,(missing),1\n2,flu,2\n2,cold,1\n2,hiv,1\n"
    )
    assert sorted(saved(published(recoding="bucketize"), parquet=True)) == [
        "codebook.md",
        "quasi.parquet",
        "release.json",
        "sensitive.parquet",
    ]


@pytest.mark.parametrize("recoding", RECODINGS)
def test_the_description_is_the_same_whatever_the_rows(recoding: Any) -> None:
    others = PEOPLE.head(7).with_columns(age=pl.lit("50"), disease=pl.Series(["hiv"] * 4 + ["flu"] * 3))
    texts = [saved(published(recoding=recoding, rows=rows))["release.json"].decode() for rows in (PEOPLE, others)]
    assert texts[0] == texts[1]
    spec = json.loads(texts[0])
    expected = {"format", "kind", "version", "method", "parameters", "claim", "layout", "files", "columns", "schema"}
    assert set(spec) == expected
    assert (spec["method"], spec["parameters"]["k"]) == ("mondrian", 2)
    assert list(spec["schema"]["columns"]) == ["age", "town", "disease"]
    assert tempfile.gettempdir() not in texts[0]
    assert "shoe" not in texts[0]


def test_columns_that_are_not_published_are_not_named() -> None:
    release = published()
    assert saved(replace(release, schema=SCHEMA)) == saved(release)


def test_parameters_are_written_as_json() -> None:
    parameters = {
        "k": np.int64(3),
        "share": np.float32(0.5),
        "edges": np.array([1, 2]),
        "names": ("b", "a"),
        "set": {"b", "a"},
        "limit": float("inf"),
        "by": {1: None},
        "requirements": (EntropyLDiversity(l=1.5),),
    }
    release = replace(published(), provenance=Provenance(method="by hand", parameters=parameters))
    assert reloaded(release).provenance.parameters == {
        "k": 3,
        "share": 0.5,
        "edges": [1, 2],
        "names": ["b", "a"],
        "set": ["a", "b"],
        "limit": "inf",
        "by": {"1": None},
        "requirements": [{"requirement": "entropy l-diversity", "l": 1.5}],
    }
    odd = replace(release, provenance=Provenance(method="by hand", parameters={"x": object()}))
    with pytest.raises(ReleaseError, match=r"a parameter of type object cannot be written to release\.json"):
        saved(odd)


def test_kept_columns_stay_with_their_rows() -> None:
    release = Mondrian(k=4).publish(read(PEOPLE, KEEPING))
    for parquet in (False, True):
        with tempfile.TemporaryDirectory() as place:
            folder = release.save(Path(place) / "release", parquet=parquet)
            data = pl.read_parquet(folder / "data.parquet") if parquet else pl.read_csv(folder / "data.csv")
            again = Release.load(folder)
        south = data.filter(pl.col("town") == "south").select("disease", "note").rows()
        assert [(disease, str(note)) for disease, note in south] == [
            ("flu", "1"),
            ("cold", "4"),
            ("hiv", "3"),
            ("(missing)", "2"),
        ]
        assert set(data.filter(pl.col("town") == "north")["note"]) == {"x", "", None, 'say "hi", then\nleave'}
        assert again.kept is not None
        assert saved(again) == saved(release)
    with pytest.raises(ReleaseError, match="'note' stands beside the rows, which the release was made without"):
        saved(replace(release, kept=None))
    with pytest.raises(ReleaseError, match="'note' has role keep, but buckets take rows apart"):
        saved(replace(release, layout="buckets", claim=replace(release.claim, buckets=True)))


def test_columns_called_bucket_and_count() -> None:
    spec = {"bucket": COLUMNS["age"], "bucket_2": COLUMNS["town"], "count": COLUMNS["disease"]}
    rows = PEOPLE.rename({"age": "bucket", "town": "bucket_2", "disease": "count"})
    release = Mondrian(k=2, recoding="bucketize").publish(read(rows, Schema.parse({"columns": spec})))
    files = saved(release)
    assert files["quasi.csv"].splitlines()[0] == b"bucket,bucket_2,bucket_3"
    assert files["sensitive.csv"].splitlines()[0] == b"bucket_3,count,count_2"
    assert json.loads(files["release.json"])["columns"] == {"bucket": "bucket_3", "count": "count_2"}
    assert reloaded(release).overall.tolist() == release.overall.tolist()


@pytest.mark.parametrize(
    "names", [("a;b;c", "d|e|f|g"), ('say "hi"', "x, y"), ("two\nlines", " padded "), ("漢", "\ta")]
)
@pytest.mark.parametrize("recoding", RECODINGS)
def test_any_column_name(names: tuple[str, str], recoding: Any) -> None:
    spec = {names[0]: COLUMNS["age"], "town": COLUMNS["town"], names[1]: COLUMNS["disease"]}
    rows = PEOPLE.rename({"age": names[0], "disease": names[1]})
    release = Mondrian(k=2, recoding=recoding).publish(read(rows, Schema.parse({"columns": spec})))
    again = reloaded(release).verified()
    assert sorted(again.histograms.tolist()) == sorted(release.histograms.tolist())


def test_values_that_also_spell_missing_come_back() -> None:
    spec = {"missing": ["", "7"], "columns": {name: COLUMNS[name] for name in ("age", "town", "disease")}}
    points = Boxes.of_points(np.array([[7, 0], [-1, 0]], dtype=np.int32))
    release = by_hand(points, [[1, 0, 0, 0], [0, 1, 0, 0]], Schema.parse(spec))
    assert reloaded(release).boxes.missing.tolist() == [[True, False], [False, False]]
    assert reloaded(release).boxes.lo.tolist() == [[0, 0], [7, 0]]


def test_a_suppressed_class_of_our_own_is_a_class() -> None:
    boxes = Boxes.of_spans([[axis.everything for axis in SCHEMA.quasi], [(1, 1, False), (0, 0, False)]])
    assert reloaded(by_hand(boxes, [[1, 0, 0, 0], [0, 1, 0, 0]])).rows == 2


def test_an_existing_folder_is_refused(tmp_path: Path) -> None:
    release = published()
    (tmp_path / "there").mkdir()
    (tmp_path / "file").write_text("mine")
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    for name in ("there", "file", "link"):
        with pytest.raises(ReleaseError, match=f"{name}: this already exists; choose a new folder"):
            release.save(tmp_path / name)
    assert sorted(os.listdir(tmp_path)) == ["file", "link", "there"]
    assert release.save(str(tmp_path / "new" / "one")) == tmp_path / "new" / "one"
    with pytest.raises(ReleaseError, match="cannot be written"):
        release.save(tmp_path / "file" / "below")


@pytest.mark.parametrize(
    "failure", [OSError(28, "No space left on device"), RuntimeError("anything"), KeyboardInterrupt()]
)
def test_nothing_is_left_after_a_failure(
    failure: BaseException, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[list[str]] = []

    def fail(path: Path, *_: object, **__: object) -> None:
        seen.append(os.listdir(path.parent))
        raise failure

    monkeypatch.setattr(Path, "write_text", fail)
    expected = ReleaseError if isinstance(failure, OSError) else type(failure)
    with pytest.raises(expected) as caught:
        published().save(tmp_path / "release")
    assert seen == [["data.csv"]]
    assert os.listdir(tmp_path) == []
    if isinstance(failure, OSError):
        assert str(caught.value).endswith("release: the release cannot be written (No space left on device)")


def without_row(path: Path, row: int) -> None:
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[: row + 1] + lines[row + 2 :]))


def test_a_class_cut_below_k_is_found(tmp_path: Path) -> None:
    folder = published(k=4).save(tmp_path / "release")
    assert Release.load(folder).verified().rows == 8
    without_row(folder / "data.csv", 0)
    with pytest.raises(ReleaseError, match=r"does not keep its claim: 1 of 2 classes fail k-anonymity \(k=4\)"):
        Release.load(folder).verified()


def test_a_bucket_cut_below_k_is_found(tmp_path: Path) -> None:
    folder = published(k=4, recoding="bucketize").save(tmp_path / "release")
    assert Release.load(folder).verified().rows == 8
    without_row(folder / "quasi.csv", 0)
    with pytest.raises(
        ReleaseError, match=r"quasi\.csv: bucket 1 has 3 rows, but sensitive\.csv counts 4 sensitive values in it"
    ):
        Release.load(folder)
    without_row(folder / "sensitive.csv", 0)
    with pytest.raises(ReleaseError, match=r"does not keep its claim: 1 of 2 buckets fail size of buckets \(k=4\)"):
        Release.load(folder).verified()


def changed(**changes: Any) -> Tamper:
    def tamper(folder: Path) -> None:
        spec = json.loads((folder / "release.json").read_text())
        (folder / "release.json").write_text(json.dumps({**spec, **changes}))

    return tamper


def without(key: str) -> Tamper:
    def tamper(folder: Path) -> None:
        spec = json.loads((folder / "release.json").read_text())
        del spec[key]
        (folder / "release.json").write_text(json.dumps(spec))

    return tamper


def written(name: str, text: str | bytes) -> Tamper:
    return lambda folder: (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode()) and None


def replaced(name: str, old: str, new: str) -> Tamper:
    def tamper(folder: Path) -> None:
        text = (folder / name).read_text()
        assert old in text
        (folder / name).write_text(text.replace(old, new, 1))

    return tamper


ROWS_FAULTS: list[tuple[Tamper, str]] = [
    (lambda folder: (folder / "release.json").unlink(), "release.json: the file does not exist; expected a release"),
    (lambda folder: (folder / "data.csv").unlink(), "data.csv: the file does not exist; the release is incomplete"),
    (written("release.json", "{"), "release.json: not valid JSON, "),
    (written("release.json", "[" * 100_000), "release.json: not valid JSON, "),
    (written("release.json", "9" * 5_000), "release.json: not valid JSON, "),
    (written("release.json", b"\xff\xfe\x00"), "release.json: the file cannot be read as UTF-8 text"),
    (written("release.json", "[]"), "release.json: found a list; expected an object"),
    (changed(format=2), "release.json: format is 2; this version reads format 1"),
    (changed(format=True), "release.json: format is True; this version reads format 1"),
    (without("format"), "release.json: format is None; this version reads format 1"),
    (without("claim"), "release.json: claim is missing; expected an object"),
    (without("method"), "release.json: method is missing; expected a word"),
    (changed(parameters=[1]), "release.json: parameters is a list; expected an object"),
    (changed(schema="x"), "release.json: schema is a str; expected an object"),
    (changed(layout="cubes"), "release.json: layout is 'cubes'; expected rows or buckets"),
    (changed(layout="buckets"), "release.json: quasi in files is None; expected a name"),
    (changed(files={"data": "../data.csv"}), "release.json: data in files is '../data.csv'; expected a name"),
    (changed(claim={"claim": "syntactic"}), "release.json: the claim is incomplete"),
    (changed(claim={"claim": "magic"}), "release.json: 'magic' is not a known claim"),
    (changed(schema={"columns": {}}), "release.json: there are no [columns.NAME] entries"),
    (replaced("data.csv", "a,b", "a.b"), "data.csv, row 1, column 'town': 'a.b' is neither one of 'a,b'"),
    (replaced("data.csv", "flu", "influenza"), "data.csv, row 1, column 'disease': 'influenza' is neither"),
    (replaced("data.csv", "a,b", ""), "data.csv, row 1, column 'town': the value is missing; expected one of"),
    (replaced("data.csv", "town", "city"), "data.csv: the column 'town' is missing; the file has 'age', 'city'"),
    (replaced("data.csv", "town", "age"), "data.csv: the column 'age' appears more than once"),
    (written("data.csv", "age,town,disease\n"), "data.csv: the file has no rows"),
    (written("data.csv", ""), "data.csv: the file is empty"),
    (written("data.csv", b"age,town,disease\n\xff,\xfe,x\n"), "data.csv"),
    (written("data.csv", "age,town,disease\n1,2,3,4,5\n"), "data.csv: cannot be read as a table ("),
]
BUCKETS_FAULTS: list[tuple[Tamper, str]] = [
    (lambda folder: (folder / "sensitive.csv").unlink(), "sensitive.csv: the file does not exist"),
    (changed(columns={}), "release.json: bucket in columns is None; expected a name"),
    (replaced("quasi.csv", "{c,1", "{c,one"), "quasi.csv, row 1, column 'bucket': 'one' is not a whole number"),
    (replaced("quasi.csv", "{c,1", "{c,"), "quasi.csv, row 1, column 'bucket': None is not a whole number"),
    (replaced("quasi.csv", "{c,1", "{c,9"), "sensitive.csv counts 4 sensitive values in it"),
    (replaced("quasi.csv", "{c", "{x"), "quasi.csv, row 1, column 'town': '{x' is neither"),
    (replaced("sensitive.csv", "1,flu", "9,flu"), "sensitive.csv, row 1: bucket 9 has no rows in quasi.csv"),
    (replaced("sensitive.csv", "flu,1", "flu,0"), "sensitive.csv, row 1, column 'count': '0' is not a whole number"),
    (replaced("sensitive.csv", "flu,1", "flu,3"), "bucket 1 has 4 rows, but sensitive.csv counts 6"),
    (replaced("sensitive.csv", "flu", "flue"), "sensitive.csv, row 1, column 'disease': 'flue' is neither"),
]


@pytest.mark.parametrize(
    ("recoding", "tamper", "message"),
    [("generalize", *fault) for fault in ROWS_FAULTS] + [("bucketize", *fault) for fault in BUCKETS_FAULTS],
)
def test_a_damaged_release_is_refused_with_a_sentence(
    recoding: Any, tamper: Tamper, message: str, tmp_path: Path
) -> None:
    folder = published(k=4 if recoding == "bucketize" else 2, recoding=recoding).save(tmp_path / "release")
    assert load_release(folder).rows == 8
    tamper(folder)
    with pytest.raises(ReleaseError) as caught:
        load_release(folder)
    assert message in str(caught.value)
    assert str(folder) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_there_is_no_folder(tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match="nowhere: this release folder does not exist"):
        Release.load(tmp_path / "nowhere")
    (tmp_path / "file").write_text("x")
    with pytest.raises(ReleaseError, match="file: this is a file; expected a release folder"):
        Release.load(str(tmp_path / "file"))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats() | st.text("ab*()", max_size=3) | st.just("numeric"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab", max_size=2), inner, max_size=3),
    max_leaves=4,
)


def paths_in(spec: Any, above: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    items = spec.items() if isinstance(spec, dict) else enumerate(spec) if isinstance(spec, list) else ()
    return [above, *(path for key, value in items for path in paths_in(value, (*above, key)))]


@given(st.data())
def test_no_description_makes_the_reader_stumble(data: st.DataObject) -> None:
    release = Mondrian(k=2, t=0.9, requirements=(EntropyLDiversity(l=1.1),)).publish(read(PEOPLE, SCHEMA))
    with tempfile.TemporaryDirectory() as place:
        folder = release.save(Path(place) / "release")
        spec = {"whole": json.loads((folder / "release.json").read_text())}
        for _ in range(data.draw(st.integers(1, 2))):
            *way, last = data.draw(st.sampled_from(paths_in(spec)[1:]))
            inside = spec
            for key in way:
                inside = inside[key]
            inside[last] = copy.deepcopy(data.draw(json_values))
        (folder / "release.json").write_text(json.dumps(spec["whole"]))
        with contextlib.suppress(ReleaseError):
            Release.load(folder).violations()


def test_only_our_own_spelling_is_read_back(tmp_path: Path) -> None:
    """Rows whose labels differ must not share a class because they mean the same."""
    folder = Mondrian(k=4).publish(read(PEOPLE, SCHEMA)).save(tmp_path / "release")
    data = (folder / "data.csv").read_text(encoding="utf-8")
    respelled = data.replace("*", " *", 1) if "*" in data else data.replace(", ", ",", 1)
    assert respelled != data
    (folder / "data.csv").write_text(respelled, encoding="utf-8")
    with pytest.raises(ReleaseError, match="is not spelled as a release spells it"):
        Release.load(folder)


def test_a_column_that_the_release_does_not_name_is_refused(tmp_path: Path) -> None:
    folder = Mondrian(k=4).publish(read(PEOPLE, SCHEMA)).save(tmp_path / "release")
    data = pl.read_csv(folder / "data.csv", infer_schema=False)
    data.with_columns(name=pl.lit("x")).write_csv(folder / "data.csv")
    with pytest.raises(ReleaseError, match="the column 'name' is not part of the release"):
        Release.load(folder)


def test_a_claim_about_classes_cannot_be_made_for_buckets(tmp_path: Path) -> None:
    folder = Mondrian(k=4, recoding="bucketize").publish(read(PEOPLE, SCHEMA)).save(tmp_path / "release")
    path = folder / "release.json"
    path.write_text(path.read_text(encoding="utf-8").replace('"buckets": true', '"buckets": false'), encoding="utf-8")
    with pytest.raises(ReleaseError, match="disagree on whether these are buckets"):
        Release.load(folder)


def test_what_a_claim_takes_for_granted_is_written_down() -> None:
    claim = Mondrian(k=4).publish(read(PEOPLE, KEEPING)).claim
    assert isinstance(claim, Syntactic)
    assert any("nobody knows the note of a person" in assumption for assumption in claim.assumptions)
