"""`budget`: what it shows, caps, exports and refuses."""

from __future__ import annotations

import csv
import json
import re
from typing import TYPE_CHECKING

import pytest

from sfumato.cli.budget import CAP_EXAMPLE, EXPORT_EXAMPLE
from sfumato.errors import BudgetError
from sfumato.methods import Synthesis
from sfumato.privacy.ledger import Ledger

if TYPE_CHECKING:
    from pathlib import Path

    from .conftest import Run

TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00"
NEEDS_AMOUNT = "a cap needs --epsilon, such as --epsilon 3, or --rho, or --none to remove it"
NONE_ALONE = "--none removes the cap; give it without --epsilon, --delta and --rho"


@pytest.fixture
def ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ledger:
    """The user's own ledger, with two settled releases, one that was cut short, and a cap."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SFUMATO_LEDGER", "own.sqlite")
    made = Ledger()
    for data_set, release, epsilon in (("people", "a", 0.1), ("people", "b", 0.2), ("town", "c", 1)):
        made.reserve(data_set=data_set, release=release, epsilon=epsilon, method=f"kd-tree {release}", folder="out")
    made.settle("a")
    made.settle("c")
    made.cap("people", 3)
    return made


def lines(text: str) -> list[str]:
    return [re.sub(r"  +", " | ", line.rstrip()) for line in text.splitlines()]


def together(presence: str, value: str) -> str:
    """What everything spent allows, in words: e^ε/(1 + e^ε) for presence, and the same at 2ε for values."""
    guess = "no guess would be right more than"
    return (
        f"All together: had a coin decided whether somebody is in the table, {guess} {presence} of the time; had a "
        f"coin decided which of two values is somebody's, {guess} {value} of the time."
    )


def test_every_data_set_is_a_line(run: Run, ledger: Ledger) -> None:
    told = run("budget")
    assert (told.code, told.err) == (0, "")
    assert lines(told.out) == [
        "data set | added up | together | ρ | cap | left | entries | reserved",
        "people | ε = 0.3 | the same | 0.025 | ε = 3 | ε = 2.7 | 2 | 1 not settled",
        "town | ε = 1 | the same | 0.5 | none | no limit | 1",
        f"people: {together('57.5%', '64.6%')}",
        f"town: {together('73.2%', '88.1%')}",
        "1 reserved and not settled: what was cut short, or is under way, counts all the same.",
        "Ledger: own.sqlite",
    ]


def test_a_data_set_shows_its_entries(run: Run, ledger: Ledger) -> None:
    told = run("budget", "people")
    assert (told.code, told.err) == (0, "")
    first, words, titles, *rest = lines(told.out)
    assert words == together("57.5%", "64.6%")
    assert first == "people: ε = 0.3 spent in all, ε = 2.7 left of the cap of ε = 3."
    assert titles == "reserved at | state | cost | method | release | folder"
    assert re.fullmatch(rf"{TIME} \| settled \| ε = 0\.1 \| kd-tree a \| a \| out", rest[0])
    assert re.fullmatch(rf"{TIME} \| reserved \| ε = 0\.2 \| kd-tree b \| b \| out", rest[1])
    assert rest[2].startswith("1 reserved and not settled")
    assert rest[3:] == ["Ledger: own.sqlite"]


def test_figures_as_json(run: Run, ledger: Ledger) -> None:
    told = run("budget", "--json").json
    assert told["ledger"] == "own.sqlite"
    people, town = told["data_sets"]
    assert (people["data_set"], town["data_set"]) == ("people", "town")
    assert people["spent"] == {"epsilon": 0.3, "delta": 0.0}
    assert (people["cap"], people["left"]) == ({"epsilon": 3.0, "delta": 0.0}, {"epsilon": 2.7, "delta": 0.0})
    assert (people["reserved"], town["cap"], town["left"]) == (1, None, None)
    assert [(entry["release"], entry["state"], entry["epsilon"]) for entry in people["entries"]] == [
        ("a", "settled", 0.1),
        ("b", "reserved", 0.2),
    ]
    assert run("budget", "town", "--json").json["data_sets"] == [town]
    assert run("budget", "--json", "town").json["data_sets"] == [town]


def test_an_empty_ledger_is_said_and_not_made(run: Run, tmp_path: Path) -> None:
    told = run("budget", "--ledger", tmp_path / "none.sqlite")
    assert told.out == f"Nothing has been spent, and no cap is set. Ledger: {tmp_path / 'none.sqlite'}\n"
    assert not (tmp_path / "none.sqlite").exists()


def test_caps_are_set_lowered_and_removed(run: Run, ledger: Ledger) -> None:
    assert run("budget", "cap", "town", "--epsilon", "2", "--delta", "1e-6").out == (
        "town: ε = 1 spent in all, ε = 1, δ = 1e-06 left of the cap of ε = 2, δ = 1e-06. Ledger: own.sqlite\n"
    )
    assert run("budget", "cap", "town", "--epsilon", "0.5").out == (
        "town: ε = 1 spent in all, more than the cap of ε = 0.5; nothing more can be spent. Ledger: own.sqlite\n"
    )
    assert run("budget", "cap", "town", "--none").out == "town: ε = 1 spent in all, without a cap. Ledger: own.sqlite\n"
    told = run("budget", "cap", "new", "--epsilon", "1", "--json").json
    assert (told["data_set"], told["cap"], told["entries"]) == ("new", {"epsilon": 1.0, "delta": 0.0}, [])
    assert ledger.data_sets() == ["new", "people", "town"]


def test_a_data_set_may_be_called_like_a_command(run: Run, ledger: Ledger) -> None:
    assert run("budget", "cap", "cap", "--epsilon", "1").code == 0
    assert run("budget", "--", "cap").out.startswith("cap: ε = 0 spent in all, ε = 1 left")
    assert run("budget", "--json", "cap").json["data_sets"][0]["data_set"] == "cap"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("peple",), "'peple' is not in the ledger own.sqlite; it knows people, town"),
        (("cap", "people"), NEEDS_AMOUNT),
        (("cap", "people", "--delta", "1e-6"), NEEDS_AMOUNT),
        (("cap", "town", "--none", "--epsilon", "1"), NONE_ALONE),
        (("cap", "people", "--epsilon", "-1"), "epsilon is -1.0; expected a number above 0 and at most 1,000,000"),
        (("cap", "people", "--epsilon", "nan"), "epsilon is nan; expected a number above 0"),
        (("cap", "people", "--epsilon", "1", "--delta", "2"), "delta is 2.0; expected a number from 0 to 1"),
        (("cap", "", "--epsilon", "1"), "'' is not the name of a data set; expected a name of text"),
        (("people", "town"), "no such command 'town'; see sfumato budget --help"),
        (("--ledger", "."), ".: this is a folder; expected the file of a ledger"),
        (("export", "-o", "own.sqlite"), "own.sqlite: this already exists; choose a new file, or remove it first"),
        (("cap",), "missing argument 'DATASET'; see sfumato budget cap --help"),
    ],
)
def test_refusals_are_one_sentence(run: Run, ledger: Ledger, arguments: tuple[str, ...], sentence: str) -> None:
    before = ledger.accounts()
    told = run("budget", *arguments)
    assert (told.code, told.out, told.err) == (2, "", f"sfumato: {sentence}\n")
    assert ledger.accounts() == before


def test_entries_are_exported_as_csv(run: Run, ledger: Ledger, tmp_path: Path) -> None:
    ledger.reserve(data_set='odd, "name"', release="d", epsilon=2, delta=1e-9, method="m\nn", folder="out")
    printed = run("budget", "export")
    assert run("budget", "export", "-o", "spent.csv").out == "4 entries are in spent.csv.\n"
    assert (tmp_path / "spent.csv").read_text() == printed.out
    rows = list(csv.DictReader(printed.out.splitlines(keepends=True)))
    assert [(row["data_set"], row["release"], row["state"], row["epsilon"], row["delta"]) for row in rows] == [
        ('odd, "name"', "d", "reserved", "2", "1e-09"),
        ("people", "a", "settled", "0.1", "0"),
        ("people", "b", "reserved", "0.2", "0"),
        ("town", "c", "settled", "1", "0"),
    ]
    assert (rows[0]["method"], rows[0]["settled_at"]) == ("m\nn", "")
    assert re.fullmatch(TIME, rows[1]["settled_at"])


def test_everything_is_exported_as_json(run: Run, ledger: Ledger, tmp_path: Path) -> None:
    everything = run("budget", "--json").json
    assert run("budget", "export", "--json").json == everything
    assert run("budget", "export", "-o", "spent.json").code == 0
    assert json.loads((tmp_path / "spent.json").read_text()) == everything


@pytest.mark.parametrize("example", [CAP_EXAMPLE, EXPORT_EXAMPLE])
def test_the_examples_work(run: Run, ledger: Ledger, example: str) -> None:
    words = example.split()[1:]
    assert run(*words).code == 0
    assert run(*words[:2], "--help").out.rstrip().endswith(f"Example: {example}")


def test_the_ledger_can_be_named_in_every_command(run: Run, ledger: Ledger) -> None:
    assert run("budget", "cap", "people", "--epsilon", "1", "--ledger", "other.sqlite").code == 0
    assert Ledger("other.sqlite").data_sets() == ["people"]
    assert len(run("budget", "export", "--ledger", "other.sqlite").out.splitlines()) == 1
    assert run("budget", "people", "--ledger", "other.sqlite").out.startswith("people: ε = 0 spent in all, ε = 1 left")


OTHER_SCHEMAS = {
    "another name": ("min = 0", "min = 0"),
    "another minimum": ("min = 0", "min = -1"),
    "another maximum": ("max = 99", "max = 120"),
    "another order of values": ('["Female", "Male"]', '["Other", "Male", "Female"]'),
    "another order of columns": ("[columns.age]", "[columns.age]"),
}


@pytest.mark.parametrize("change", OTHER_SCHEMAS)
def test_the_same_rows_under_another_name_are_pointed_out(
    run: Run, publish: Run, people: Path, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    noise = ("--method", "quad-tree", "--epsilon", "1", "--ledger", "own.sqlite")
    assert publish("first", *noise).code == 0
    schema = (people / "people.toml").read_text().replace('name = "people"', 'name = "village"')
    schema = schema.replace(*OTHER_SCHEMAS[change])
    if change == "another order of columns":
        head, *columns = schema.split("[columns.")
        schema = "[columns.".join([head, *reversed(columns)])
    (people / "people.toml").write_text(schema)
    again = publish("second", *noise)
    assert again.code == 0
    assert "The same rows were published as 'people' before" in again.err
    (people / "people.csv").write_text((people / "people.csv").read_text().replace("person 7,", "person 8,"))
    other = publish("third", *noise)
    assert (other.code, "The same rows" in other.err) == (0, False)


def test_all_three_ways_of_counting_are_shown(run: Run, ledger: Ledger) -> None:
    """Twenty Gaussian releases at (0.5, 1e-9) come to far less than ten; a cap of ρ is kept in ρ."""
    claim = Synthesis(epsilon=0.5, delta=1e-9).claim
    assert claim.concentrated is not None
    rho = claim.concentrated.rho
    for number in range(20):
        ledger.reserve(data_set="region", release=str(number), epsilon=0.5, delta=1e-9, rho=rho, method="m", folder="r")
    line = next(line for line in lines(run("budget").out) if line.startswith("region"))
    assert (
        line == "region | ε = 10, δ = 2e-08 | ε = 2.19 at δ = 2e-08 | 0.07907 | none | no limit | 20 | 20 not settled"
    )
    told = run("budget", "region", "--json").json["data_sets"][0]
    assert told["spent"] == {"epsilon": 10.0, "delta": 2e-8}
    assert told["together"]["epsilon"] == pytest.approx(2.19, abs=0.01)
    assert told["rho"] == pytest.approx(20 * float(rho))
    assert told["entries"][0]["rho"] == float(rho)
    assert run("budget", "cap", "region", "--rho", "0.1").out.startswith(
        "region: ε = 10, δ = 2e-08 spent in all (ε = 2.19 at δ = 2e-08 together, ρ = 0.07907), ρ = 0.0209"
    )
    assert run("budget", "cap", "region", "--rho", "0.1", "--epsilon", "1").err == (
        "sfumato: a cap is one of epsilon and delta, or of rho; give one of both\n"
    )


def test_a_delta_beyond_all_that_is_told_apart_is_shown(run: Run, ledger: Ledger) -> None:
    assert run("budget", "cap", "people", "--epsilon", "3", "--delta", "0.5").code == 0
    told = run("budget")
    assert (told.code, told.err) == (0, "")
    assert "people | ε = 0.3 | ε = 0 at δ = 0.5 | 0.025" in lines(told.out)[1]


def test_what_has_no_rho_is_told_under_a_cap_of_rho(run: Run, ledger: Ledger) -> None:
    ledger.reserve(data_set="region", release="old", epsilon=1, delta=1e-6, method="m", folder="r")
    told = run("budget", "cap", "region", "--rho", "5").out
    assert "some of it without a ρ, so that nothing more can be spent under the cap of ρ = 5." in told
    with pytest.raises(BudgetError, match="some of what was spent without a ρ does not count under the cap of ρ = 5"):
        ledger.reserve(data_set="region", release="new", epsilon=0.1, method="m", folder="r")
