"""Help: quick, complete, each with an example that works, and the same as in the command reference."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import typer

from sfumato.cli.app import COMMANDS as COMMANDS_BY_NAME
from sfumato.cli.app import SETTINGS, program
from sfumato.cli.reference import command_reference, contexts
from sfumato.methods import METHODS
from sfumato.version import __version__

if TYPE_CHECKING:
    from .conftest import Run

ROOT = Path(__file__).resolve().parents[2]
CONTEXTS = {context.command_path: context for context in contexts()}
COMMANDS = {path: context for path, context in CONTEXTS.items() if context.parent}
SLOW_MODULES = ("numpy", "polars", "numba", "scipy", "altair", "jinja2", "rich", "pydantic")


def example(context: typer.Context) -> list[str]:
    """The words of the example that a command's help ends with, without the program's name."""
    last = context.get_help().strip().splitlines()[-1].strip()
    assert last.startswith("Example: sfumato"), last
    return shlex.split(last.removeprefix("Example: "))[1:]


def test_the_commands_are_the_ones_promised() -> None:
    promised = [
        "demo",
        "init",
        "plan",
        "frontier",
        "publish",
        "measure",
        "verify",
        "query",
        "audit",
        "reproduce",
        "compile",
        "budget",
        "commute",
        "local",
    ]
    assert list(program().commands) == promised
    assert {"sfumato budget cap", "sfumato budget export"} < set(COMMANDS)
    assert {f"sfumato commute {name}" for name in ("synthesize", "evaluate", "map")} < set(COMMANDS)
    assert {f"sfumato local {name}" for name in ("plan", "serve", "perturb", "estimate")} < set(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS_BY_NAME)
def test_a_command_that_is_not_loaded_is_described_as_it_describes_itself(name: str) -> None:
    assert program("").commands[name].get_short_help_str(200) == program().commands[name].get_short_help_str(200)


@pytest.mark.parametrize("path", CONTEXTS)
def test_help_ends_with_an_example_that_parses(path: str) -> None:
    words = example(CONTEXTS[path])
    above = path.split()[1:]
    assert words[: len(above)] == above
    while " ".join(["sfumato", *above]) in ("sfumato", "sfumato commute", "sfumato local"):
        above = words[: len(above) + 1]
    command = CONTEXTS[" ".join(["sfumato", *above])].command
    assert command.make_context(above[-1], words[len(above) :]).params


@pytest.mark.parametrize("path", CONTEXTS)
def test_every_option_and_argument_is_explained(path: str) -> None:
    context = CONTEXTS[path]
    parameters = context.command.get_params(context)
    assert parameters
    for parameter in parameters:
        assert getattr(parameter, "help", None), f"{path} {parameter.name}"
        assert parameter.help.endswith("."), f"{path} {parameter.name}"


@pytest.mark.parametrize("path", COMMANDS)
def test_the_first_sentence_fits_into_the_list_of_commands(path: str) -> None:
    first = (COMMANDS[path].command.help or "").split("\n\n")[0]
    assert first.endswith(".")
    above = COMMANDS[path].parent
    assert above is not None
    assert first in typer.Context(above.command, info_name=above.info_name, terminal_width=80, **SETTINGS).get_help()


@pytest.mark.parametrize(
    "path",
    [
        "publish",
        "measure",
        "verify",
        "query",
        "audit",
        "frontier",
        "plan",
        "budget",
        "budget cap",
        "commute synthesize",
        "commute evaluate",
        "local plan",
        "local perturb",
        "local estimate",
        "reproduce",
    ],
)
def test_commands_that_print_figures_print_json(path: str) -> None:
    assert "--json" in COMMANDS[f"sfumato {path}"].get_help()


def test_every_method_is_named_in_the_help_of_publish() -> None:
    text = COMMANDS["sfumato publish"].get_help()
    assert [name for name in METHODS if name not in text] == []


def test_the_command_reference_is_up_to_date() -> None:
    written = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    assert written == command_reference(), "run python -m sfumato.cli.reference > docs/commands.md"


def test_the_command_reference_does_not_depend_on_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = command_reference()
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert command_reference() == usual
    assert "\x1b" not in usual


def test_version_and_no_command(run: Run) -> None:
    assert run("--version").out == f"sfumato {__version__}\n"
    bare = run()
    assert bare.code == 0
    assert bare.out == run("--help").out
    assert "Commands:" in bare.out


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_is_told_how_to_complete(shell: str) -> None:
    command = [sys.executable, "-m", "sfumato.cli", "--show-completion", shell]
    named = {**os.environ, "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    told = subprocess.run(command, env=named, capture_output=True, text=True)
    assert (told.returncode, told.stderr) == (0, "")
    assert f"_SFUMATO_COMPLETE=complete_{shell}" in told.stdout


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("sfumato pub", ["publish"]),
        ("sfumato publish --l-", ["--l-form"]),
        ("sfumato publish --method quad", ["quad-tree"]),
        ("sfumato publish --cut m", ["median"]),
    ],
)
def test_what_a_shell_completes(run: Run, monkeypatch: pytest.MonkeyPatch, line: str, expected: list[str]) -> None:
    monkeypatch.setenv("_SFUMATO_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", str(len(line.split()) - 1))
    told = run()
    assert (told.code, told.out.split()) == (0, expected)


@pytest.mark.parametrize(
    ("words", "slow"),
    [(["--help"], SLOW_MODULES), (["publish", "--help"], ("scipy.special", "sklearn", "altair", "jinja2", "rich"))],
)
def test_help_loads_nothing_slow(words: list[str], slow: tuple[str, ...]) -> None:
    """What makes help quick; how quick it is, tests/test_architecture.py asks. That of publish needs the methods."""
    script = (
        f"import sys; from sfumato.cli import main; main({words!r}); "
        f"sys.exit(' '.join(name for name in {slow!r} if name in sys.modules) or None)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Usage: sfumato" in done.stdout
