"""The documentation is true: links lead somewhere, examples run, commands, options and files exist.

`make docs` writes anew what is made from the program: the command reference, tables of measures and shown outputs.
"""

from __future__ import annotations

import pkgutil
import re
import shlex
import tomllib
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
import typer

import sfumato as sf
from documentation import (
    BETTER,
    FENCE,
    MEASURES_PAGE,
    README,
    ROOT,
    TUTORIAL,
    blocks,
    outputs,
    readme_folder,
    rewrite_measures,
    rewrite_output,
    shows,
    tutorial_folder,
)
from sfumato.cli import main
from sfumato.cli.app import program as all_commands
from sfumato.cli.reference import contexts
from sfumato.errors import SchemaError
from sfumato.trials.flows.sweep import Sweep

PAGES = [README, ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
SCHEMAS = ROOT / "docs" / "schema.md"
GUIDE = ROOT / "docs" / "commute.md"
LOCAL_GUIDE = ROOT / "docs" / "local.md"

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
INLINE = re.compile(r"`([^`\n]+)`")
SHELL = ("cp", "cd", "mkdir", "head", "sed", "source", ".venv/bin/python")
MAX_HOPS = (14, 10)
"""From a file to the report, and from the command line to a release folder."""
Place = Callable[[Path], AbstractContextManager[None]]
OWN_FOLDERS = ("src/", "tests/", "docs/", "benchmarks/", "scripts/")
UNWANTED = (
    r"\b(?:todo|fixme)s?\b",
    r"\b(?:blazing|seamless|effortless|powerful|cutting-edge|state-of-the-art|world-class|revolutionary)\w*",
    r"(?<![\w.:/])/(?:home|tmp|Users|usr|var|opt|mnt)\b",
    r"\b[A-Z]:\\",
    r"<!--",
)


def relative(path: Path) -> str:
    return str(path.relative_to(ROOT))


def prose(text: str) -> str:
    return FENCE.sub("", text)


def anchors(text: str) -> set[str]:
    """The places inside a page that a link can name."""
    titles = re.findall(r"^#+ (.+)$", prose(text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def dead_links(page: Path, text: str) -> list[str]:
    """The relative links that lead nowhere."""
    dead = []
    for link in LINK.findall(prose(text)):
        if re.match(r"[a-z]+:", link):
            continue
        file, _, anchor = link.partition("#")
        target = page.parent / file if file else page
        if not target.exists() or (anchor and anchor not in anchors(target.read_text(encoding="utf-8"))):
            dead.append(link)
    return dead


def unwanted(text: str) -> list[str]:
    """Words that do not belong in a description of the program, and paths of some machine."""
    return [match[0] for pattern in UNWANTED for match in re.finditer(pattern, text, re.IGNORECASE)]


def shell_lines(text: str) -> list[str]:
    return [line for language, body in blocks(text) if language == "sh" for line in body.splitlines() if line.strip()]


def commands() -> tuple[Any, Any]:
    program = all_commands()
    return program, typer.Context(program, info_name="sfumato")


def options() -> set[str]:
    """Every option of every command."""
    every = [item for context in contexts() for item in context.command.get_params(context)]
    return {option for item in every for option in (*item.opts, *item.secondary_opts)}


def misuse(line: str) -> str | None:
    """What is wrong with a line of a shell example, if anything is."""
    word, *arguments = shlex.split(line)
    if word == "sfumato":
        program, top = commands()
        try:
            name, command, rest = program.resolve_command(top, arguments)
            if name in ("commute", "local"):
                name, command, rest = command.resolve_command(top, list(rest))
            command.make_context(name, list(rest), parent=top)
        except typer.TyperException as error:
            return f"{line}: {error.format_message()}"
    elif word == "make":
        targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
        unknown = [item for item in arguments if "=" not in item and item not in targets]
        return f"{line}: no such target" if unknown else None
    elif word not in SHELL:
        return f"{line}: {word} is not explained anywhere"
    return None


def unknown_names(text: str) -> list[str]:
    """Commands, options and files that are named in running text and are not there."""
    program, top = commands()
    names, known = set(program.list_commands(top)), options()
    wrong = []
    for code in INLINE.findall(prose(text)):
        word, *rest = code.split()
        if word == "sfumato" and rest and rest[0] not in names | known:
            wrong.append(code)
        if word.startswith("--") and word not in known:
            wrong.append(code)
        if word.startswith(OWN_FOLDERS) and not rest and not (ROOT / word).exists():
            wrong.append(code)
    return wrong


def completed(spec: dict[str, Any]) -> dict[str, Any]:
    """A piece of a schema, with the columns that a whole one needs."""
    roles = {column["role"] for column in spec["columns"].values()}
    two = {"kind": "categorical", "values": ["a", "b"]}
    more = {f"some {role}": {"role": role, **two} for role in ("quasi", "sensitive") if role not in roles}
    return spec | {"columns": spec["columns"] | more}


@pytest.fixture(params=PAGES, ids=relative)
def page(request: pytest.FixtureRequest) -> Path:
    path = request.param
    assert isinstance(path, Path)
    return path


def test_links_lead_somewhere(page: Path) -> None:
    assert dead_links(page, page.read_text(encoding="utf-8")) == []


def test_pages_speak_of_the_program_alone(page: Path) -> None:
    assert unwanted(page.read_text(encoding="utf-8")) == []


def test_shell_examples_use_what_is_there(page: Path) -> None:
    assert [wrong for line in shell_lines(page.read_text(encoding="utf-8")) if (wrong := misuse(line))] == []


def test_names_in_running_text_are_there(page: Path) -> None:
    assert unknown_names(page.read_text(encoding="utf-8")) == []


def test_every_measure_is_listed_with_its_direction() -> None:
    text = MEASURES_PAGE.read_text(encoding="utf-8")
    assert rewrite_measures(text) == text, "run: make docs"
    for name, measure in sf.MEASURES.items():
        assert re.search(rf"^\| `{name}` \| [^|]+ \| {BETTER[measure.direction]} \|", text, re.MULTILINE)


def test_the_walk_of_one_row_is_short_and_names_what_is_there() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    walks = re.split(r"^From ", text.partition("## The walk of one row")[2].partition("\n## ")[0], flags=re.MULTILINE)
    lengths = []
    for walk in walks[1:]:
        hops = re.findall(r"^(\d+)\. `([\w.]+)`:", walk, re.MULTILINE)
        assert [int(number) for number, _ in hops] == list(range(1, len(hops) + 1))
        assert all(callable(pkgutil.resolve_name(name)) for _, name in hops)
        lengths.append(len(hops))
    assert [length <= limit for length, limit in zip(lengths, MAX_HOPS, strict=True)] == [True, True]


@pytest.mark.parametrize("wanted", [SCHEMAS, TUTORIAL], ids=relative)
def test_schema_examples_are_schemas(wanted: Path, tmp_path: Path) -> None:
    found = blocks(wanted.read_text(encoding="utf-8"))
    (tmp_path / "hierarchies").mkdir()
    for language, body in found:
        if language == "csv":
            (tmp_path / "hierarchies" / "workclass.csv").write_text(body, encoding="utf-8")
    examples = [tomllib.loads(body) for language, body in found if language == "toml"]
    assert len(examples) >= 3
    for spec in examples:
        sf.Schema.parse(completed(spec), tmp_path)


def test_the_python_example_of_the_readme_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With a few settings in place of all."""
    examples = [body for language, body in blocks(README.read_text(encoding="utf-8")) if language == "python"]
    assert examples
    with readme_folder(tmp_path):
        for body in examples:
            exec(compile(body, "README.md", "exec"), {})
    assert "each person is in a class of at least 10" in capsys.readouterr().out
    assert (tmp_path / "report" / "report.html").is_file()
    assert sf.Release.load(tmp_path / "chosen-release").violations() == []


@pytest.mark.parametrize(
    ("path", "place", "least"),
    [(README, readme_folder, 3), (TUTORIAL, tutorial_folder, 14)],
    ids=["README", "tutorial"],
)
def test_outputs_are_what_the_commands_print(path: Path, place: Place, least: int, tmp_path: Path) -> None:
    """Every command of the page is run in turn, and its output compared with what the page shows."""
    with place(tmp_path):
        found = list(outputs(path.read_text(encoding="utf-8")))
    wrong = [printed for shown, printed in found if not shows(shown, printed)]
    assert not wrong, "\n".join(["run: make docs", *wrong])
    assert len(found) >= least


def test_the_guide_to_flows_is_what_happens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With a few settings in place of all."""
    every = Sweep.settings
    monkeypatch.setattr(Sweep, "settings", lambda sweep: [every(sweep)[1], every(sweep)[7]])
    monkeypatch.chdir(tmp_path)
    for language, body in blocks(GUIDE.read_text(encoding="utf-8")):
        if language == "python":
            exec(compile(body, GUIDE.name, "exec"), {})
        elif language == "sh":
            assert {main(shlex.split(line)[1:]) for line in body.splitlines()} == {0}
    assert "(4.6, 1e-05)-probabilistic differential privacy" in capsys.readouterr().out
    made = {"evaluation", "own", "flows-release", "map.html", "python-release"}
    assert made <= {path.name for path in tmp_path.iterdir()}


def test_the_guide_to_local_noise_is_what_happens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """All but the server, which runs until it is stopped."""
    monkeypatch.chdir(tmp_path)
    for language, body in blocks(LOCAL_GUIDE.read_text(encoding="utf-8")):
        if language == "toml":
            (tmp_path / "visits.toml").write_text(body, encoding="utf-8")
        elif language == "python":
            exec(compile(body, LOCAL_GUIDE.name, "exec"), {})
        elif language == "sh":
            lines = [shlex.split(line)[1:] for line in body.splitlines() if not line.startswith("sfumato local serve")]
            assert {main(line) for line in lines} <= {0}
    printed = capsys.readouterr().out
    assert "15-local differential privacy" in printed
    assert re.search(r"Mean (5\.9|6\b)", printed), printed
    assert {"reports.csv", "visits.csv"} <= {path.name for path in tmp_path.iterdir()}


@pytest.mark.parametrize(
    ("text", "dead"),
    [
        ("see [here](README.md) and [there](docs/nowhere.md)", ["docs/nowhere.md"]),
        ("see [a part](README.md#quick-start) or [another](README.md#slow-start)", ["README.md#slow-start"]),
        ("see [the web](https://example.org/nowhere)", []),
        ("```sh\n[not a link](nowhere)\n```\n", []),
    ],
)
def test_a_dead_link_would_be_found(text: str, dead: list[str]) -> None:
    assert dead_links(ROOT / "page.md", text) == dead


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a todo is left", ["todo"]),
        ("look in /home/somebody or /tmp/out", ["/home", "/tmp"]),
        ("a seamlessly powerful program", ["seamlessly", "powerful"]),
        ("see https://example.org/home/page and src/usr/x", []),
        ("a fixme, C:\\data <!-- hidden -->", ["fixme", "C:\\", "<!--"]),
    ],
)
def test_an_unwanted_word_would_be_found(text: str, found: list[str]) -> None:
    assert unwanted(text) == found


@pytest.mark.parametrize(
    "line",
    [
        "sfumato anonymize people.csv",
        "sfumato verify release --loud",
        "sfumato verify",
        "sfumato commute map release",
        "sfumato publish people.csv --schema s.toml --method mondrian --k ten -o release",
        "sfumato publish people.csv --schema s.toml --method mondrian --cut best -o release",
        "make everything",
        "curl https://example.org",
    ],
)
def test_a_wrong_command_would_be_found(line: str) -> None:
    assert misuse(line)


def test_a_wrong_name_would_be_found() -> None:
    right = "`sfumato verify`, `--allow-exact`, `src/sfumato/cli`, `mypy --strict`"
    wrong = ["sfumato check", "--no-limits", "src/sfumato/magic.py"]
    assert unknown_names(f"{right}, `{'`, `'.join(wrong)}`") == wrong


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        ("About 3 of\n7 people.\n", "About 3   of 7 people.\n", True),
        ("first\n...\nlast\n", "first\nsecond\nthird\nlast\n", True),
        ("first\n...\nlast\n", "first\nsecond\nthird\n", False),
        ("About 3 of 7 people.\n", "About 4 of 7 people.\n", False),
        ("About 3 of 7 people.\n", "About 3 of 7 people.\nMore.\n", False),
    ],
)
def test_an_output_that_has_changed_would_be_found(shown: str, printed: str, same: bool) -> None:
    assert shows(shown, printed) is same


def test_an_output_that_has_changed_is_written_anew() -> None:
    printed = f"Done, 7 rows.\nClaim: k = 10{' and so on' * 20}\nNoted.\n  good  Breach increase  -0.1\n      Enough.\n"
    shown = "Done, 6 rows.\nClaim: k = 9, and\nmore.\n...\n  fair  Breach increase  0.2\n"
    written = rewrite_output(shown, printed)
    assert shows(written, printed)
    assert [line[:8] for line in written.splitlines()] == ["Done, 7 ", "Claim: k", "so on an", "...", "  good  ", "..."]


def test_a_measure_with_the_wrong_direction_would_be_found() -> None:
    text = MEASURES_PAGE.read_text(encoding="utf-8")
    turned = re.sub(r"(\| `p_loss` \| [^|]+ \| )lower", r"\1higher", text)
    assert turned != text
    assert rewrite_measures(turned) == text
    without = re.sub(r"^\| `ncp` .*\n", "", text, flags=re.MULTILINE)
    assert without != text
    assert rewrite_measures(without) == text


def test_a_wrong_schema_example_would_be_found(tmp_path: Path) -> None:
    with pytest.raises(SchemaError, match="'max_age' has no meaning"):
        sf.Schema.parse(completed({"columns": {"age": {"role": "quasi", "kind": "numeric", "max_age": 3}}}), tmp_path)
