"""The command reference, made of the commands' own help: `python -m sfumato.cli.reference > docs/commands.md`."""

import inspect
from collections.abc import Iterator

import typer

from sfumato.cli.app import NAME, SETTINGS, program

WIDTH = 100
INTRODUCTION = """\
# Commands

Every command prints its results on standard output, and progress and notes on standard error. With `--json`, standard
output holds JSON and nothing else. Exit codes: 0, done; 1, `verify` found that a claim does not hold, is contradicted
or is not there, `audit` that one is broken; 2, something was wrong with what the command was given, and one sentence
on standard error says what; 3, `verify` found nothing against a claim that nobody can recompute, because it rests on
how the release was made; 130, interrupted.
"""


def contexts(within: typer.Context | None = None) -> Iterator[typer.Context]:
    """The program, or what is given, and then each command below, ready to show its help at a fixed width."""
    context = within or typer.Context(program(), info_name=NAME, terminal_width=WIDTH, **SETTINGS)
    yield context
    for name, command in getattr(context.command, "commands", {}).items():
        yield from contexts(typer.Context(command, info_name=name, parent=context, terminal_width=WIDTH))


def command_reference() -> str:
    parts = [INTRODUCTION]
    for context in contexts():
        help_text = inspect.cleandoc(context.get_help())
        lines = "\n".join(line.rstrip() for line in help_text.splitlines())
        parts.append(f"## {context.command_path}\n\n```text\n{lines}\n```\n")
    return "\n".join(parts)


if __name__ == "__main__":
    print(command_reference(), end="")
