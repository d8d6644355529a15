"""The commands under one name, and what becomes of errors: one sentence on standard error and exit code 2."""

from __future__ import annotations

import os
import sys
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from sfumato.cli import budget, commute, demo, frontier, init, local, measure, publish, query, verify
from sfumato.cli.commute import evaluate, synthesize
from sfumato.cli.commute import map as flow_map
from sfumato.cli.commute.settings import SynthesizeCommand
from sfumato.cli.local import estimate, perturb, plan, serve
from sfumato.cli.parameters import PublishCommand
from sfumato.cli.show import one_line
from sfumato.errors import SfumatoError
from sfumato.version import __version__

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

NAME = "sfumato"
BAD_INPUT = 2
BROKEN_PIPE = 141
"""What a shell reports of a program whose reader went away."""

COMMANDS: dict[str, type[TyperCommand]] = {"publish": PublishCommand, "synthesize": SynthesizeCommand}
"""Commands with options that are declared elsewhere."""
SETTINGS: dict[str, Any] = {"help_option_names": ["-h", "--help"], "max_content_width": 100}

app = typer.Typer(name=NAME, rich_markup_mode=None, pretty_exceptions_enable=False, context_settings=SETTINGS)


def _example(line: str) -> str:
    return f"\b\nExample: {line}"


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"{NAME} {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True, epilog=_example("sfumato demo"))
def start(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Which version of this table of people should I publish? Anonymize, attack, measure, choose."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def _add(group: typer.Typer, *modules: ModuleType) -> None:
    """Add the commands of some modules, by the modules' names."""
    for module in modules:
        name = module.__name__.rpartition(".")[2]
        about: dict[str, Any] = {"epilog": _example(module.EXAMPLE), "context_settings": SETTINGS}
        group.command(name=name, cls=COMMANDS.get(name), **about)(module.command)


def _add_group(package: ModuleType, example: str, *modules: ModuleType) -> None:
    """Add the commands of a package, which says itself what they are for."""
    about: dict[str, Any] = {"help": package.__doc__, "epilog": _example(example), "context_settings": SETTINGS}
    group = typer.Typer(rich_markup_mode=None, **about)
    _add(group, *modules)
    app.add_typer(group, name=package.__name__.rpartition(".")[2])


_add(app, demo, init, frontier, publish, measure, verify, query)

spending = typer.Typer(cls=budget.DataSetOrCommand, rich_markup_mode=None, context_settings=SETTINGS)
spending.callback(invoke_without_command=True, epilog=_example(budget.EXAMPLE))(budget.command)
spending.command(name="cap", epilog=_example(budget.CAP_EXAMPLE), context_settings=SETTINGS)(budget.cap)
spending.command(name="export", epilog=_example(budget.EXPORT_EXAMPLE), context_settings=SETTINGS)(budget.export)
app.add_typer(spending, name="budget")

_add_group(commute, synthesize.EXAMPLE, synthesize, evaluate, flow_map)
_add_group(local, serve.EXAMPLE, plan, serve, perturb, estimate)


@cache
def program() -> TyperGroup:
    """All commands, ready to run."""
    made = typer.main.get_command(app)
    assert isinstance(made, TyperGroup)
    return made


def run(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code; what a user can put right becomes one sentence."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        code = program().main(args=arguments, prog_name=NAME, standalone_mode=False)
        sys.stdout.flush()
    except (SystemExit, BrokenPipeError) as ended:
        if isinstance(ended, SystemExit) and not ended.code:  # a shell has its completions
            return 0
        _forget_output()
        return BROKEN_PIPE
    except typer.TyperException as error:
        return _refuse(_usage(error))
    except SfumatoError as error:
        return _refuse(str(error))
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        return _refuse(f"{place}{error.strerror or error}")
    except MemoryError:
        return _refuse("there is not enough memory for this table under this schema")
    return int(code or 0)


def _refuse(sentence: str) -> int:
    print(f"{NAME}: {one_line(sentence)}", file=sys.stderr)
    return BAD_INPUT


def _usage(error: typer.TyperException) -> str:
    message = one_line(error.format_message()).removesuffix(".")
    context = getattr(error, "ctx", None)
    command = context.command_path if context else NAME
    return f"{message[:1].lower()}{message[1:]}; see {command} --help"


def _forget_output() -> None:
    """Nobody reads on: let the interpreter's last flush go nowhere."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):
        return
