"""Options that are made of declared parameters, beside those that a command's own function lists."""

import inspect
from abc import abstractmethod
from collections.abc import Iterable
from typing import Any, Literal

import typer
from typer.core import TyperCommand

from sfumato.parameters import Declaration

KEYWORD_ONLY = inspect.Parameter.KEYWORD_ONLY
GIVEN = "parameters"
"""Where the context of a command keeps the values of declared parameters."""


class DeclaredCommand(TyperCommand):
    """A command that takes declared parameters; what they are is asked when it is run or explained, not before."""

    @abstractmethod
    def declared(self) -> Iterable[Declaration]:
        """The parameters, one for each option."""

    def get_params(self, ctx: Any) -> list[Any]:
        *own, show_help = super().get_params(ctx)
        return [*own, *typer_options(self.declared()), show_help]

    def invoke(self, ctx: Any) -> Any:
        ctx.meta[GIVEN] = {declared.name: ctx.params.pop(declared.name) for declared in self.declared()}
        return super().invoke(ctx)


def typer_options(parameters: Iterable[Declaration]) -> list[Any]:
    """An option of the command line for each parameter, made by Typer from a signature."""

    def nothing() -> None:
        pass

    found = []
    for declared in parameters:
        kind: Any = Literal.__getitem__(tuple(declared.choices)) if declared.choices else declared.kind
        kind = kind | None if declared.default is None else kind
        default = ... if declared.required else declared.default
        option = typer.Option(default, spell(declared.name), metavar=declared.metavar, help=declared.help)
        found.append(inspect.Parameter(declared.name, KEYWORD_ONLY, default=option, annotation=kind))
    vars(nothing)["__signature__"] = inspect.Signature(found)
    alone = typer.Typer(add_completion=False)
    alone.command()(nothing)
    return typer.main.get_command(alone).params


def spell(name: str) -> str:
    """A parameter as an option."""
    return f"--{name.replace('_', '-')}"
