"""The commands under one name, and what becomes of errors: one sentence on standard error and exit code 2.

Only the command that is run is loaded; of the others, their names and what they are for are known here.
"""

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from typing import Any

import typer
from typer import Option
from typer.core import TyperGroup

from sfumato.cli.declared import with_options
from sfumato.errors import SfumatoError
from sfumato.version import __version__

NAME = "sfumato"
BAD_INPUT = 2
BROKEN_PIPE = 141
"""What a shell reports of a program whose reader went away."""
COMPLETION = "_SFUMATO_COMPLETE"
"""The variable with which a shell asks for completions."""
SETTINGS: dict[str, Any] = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
COMMANDS = {
    "demo": "See the whole story on built-in data, in under a minute.",
    "init": "Propose a schema for a table, to look through and edit.",
    "plan": "Estimate what publishing a table costs by each method.",
    "frontier": "Try every method on a table and recommend what to publish.",
    "publish": "Publish a table by one method at one setting.",
    "measure": "Measure how private and how useful a release is.",
    "verify": "Recompute what a release promises from its files alone.",
    "query": "Estimate from a release how many people satisfy conditions.",
    "audit": "Run a program once and see if it is as private as it claims.",
    "reproduce": "Reproduce the papers figure by figure, and judge what they say.",
    "compile": "Compile the inner loops now, so that no first use waits for it.",
    "budget": "See what has been spent on which data set.",
    "commute": "Publish, evaluate and map flows of people between places.",
    "local": "Collect numbers that got noise on people's own devices.",
}
GROUPS = {"commute": ("synthesize", "evaluate", "map"), "local": ("plan", "serve", "perturb", "estimate")}


class Interrupted(BaseException):
    """An interrupt with what it says, on its way past the command-line library, which would keep that to itself."""


class Program(TyperGroup):
    """All commands, whose interrupts leave with what they say."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as interrupt:
            raise Interrupted(*interrupt.args) from interrupt


def program(name: str | None = None) -> TyperGroup:
    """The commands, ready to run: all of them, or the named one, with the others there by name only."""
    app = typer.Typer(name=NAME, cls=Program, rich_markup_mode=None, pretty_exceptions_enable=False)
    app.callback(invoke_without_command=True, **_about("sfumato demo"))(start)
    for each, about in COMMANDS.items():
        if name not in (None, each):
            app.command(name=each, help=about)(_not_loaded)
        elif each == "budget":
            app.add_typer(_budget(), name=each)
        else:
            _add(app, each)
    made = typer.main.get_command(app)
    assert isinstance(made, TyperGroup)
    return made


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"{NAME} {__version__}")
        raise typer.Exit


def start(
    context: typer.Context,
    version: bool = Option(
        False, "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
    ),
) -> None:
    """Which version of this table of people should I publish? Anonymize, attack, measure, choose."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def _not_loaded() -> None:
    raise AssertionError("a command that was not asked for cannot run")


def _asked(arguments: Sequence[str] | None) -> str | None:
    """The command in a line of arguments, nothing if there is none; all of them for a shell that completes."""
    if COMPLETION in os.environ:
        return None
    given = sys.argv[1:] if arguments is None else arguments
    return next((word for word in given if not word.startswith("-")), "")


def _about(example: str) -> dict[str, Any]:
    return {"epilog": f"\b\nExample: {example}", "context_settings": SETTINGS}


def _add(app: typer.Typer, name: str, package: str = "sfumato.cli") -> None:
    """Add the command of a module, which may say that it is of a kind of its own, or the commands of a package."""
    module = import_module(f"{package}.{name}")
    about = _about(module.EXAMPLE)
    if name in GROUPS:
        group = typer.Typer(rich_markup_mode=None, help=module.__doc__, **about)
        for each in GROUPS[name]:
            _add(group, each, module.__name__)
        app.add_typer(group, name=name)
    else:
        app.command(name=name, cls=getattr(module, "COMMAND", None), **about)(with_options(module.command))


def _budget() -> typer.Typer:
    budget = import_module("sfumato.cli.budget")
    group = typer.Typer(cls=budget.DataSetOrCommand, rich_markup_mode=None)
    group.callback(invoke_without_command=True, **_about(budget.EXAMPLE))(budget.command)
    group.command(name="cap", **_about(budget.CAP_EXAMPLE))(budget.cap)
    group.command(name="export", **_about(budget.EXPORT_EXAMPLE))(budget.export)
    return group


def run(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code; what a user can put right becomes one sentence."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        code = program(_asked(arguments)).main(args=arguments, prog_name=NAME, standalone_mode=False)
        sys.stdout.flush()
    except (SystemExit, BrokenPipeError) as ended:
        if isinstance(ended, SystemExit) and not ended.code:  # a shell has its completions
            return 0
        _forget_output()
        return BROKEN_PIPE
    except typer.TyperException as error:
        return _refuse(_usage(error))
    except SfumatoError as error:
        return _refuse(error.sentence, error.details)
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        return _refuse(f"{place}{error.strerror or error}")
    except Interrupted as interrupted:
        raise KeyboardInterrupt(*interrupted.args) from interrupted
    except MemoryError:
        return _refuse("there is not enough memory for this table under this schema")
    return int(code or 0)


def one_line(text: str) -> str:
    return " ".join(part.strip() for part in text.splitlines() if part.strip())


def _refuse(sentence: str, details: Sequence[str] = ()) -> int:
    from sfumato.cli.show import printable

    print(f"{NAME}: {printable(one_line(sentence))}", file=sys.stderr)
    for line in details:
        print(f"  {printable(one_line(line))}", file=sys.stderr)
    return BAD_INPUT


def _usage(error: typer.TyperException) -> str:
    message = one_line(error.format_message()).removesuffix(".")
    context = getattr(error, "ctx", None)
    command = context.command_path if context else NAME
    return f"{message[:1].lower()}{message[1:]}; see {command} --help"


def _forget_output() -> None:
    """Nobody reads on: let the interpreter's last flush go nowhere."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
