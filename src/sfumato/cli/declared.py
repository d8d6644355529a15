"""Options that are made of declared parameters, beside those that a command's own function lists."""

import inspect
from collections.abc import Callable
from dataclasses import is_dataclass
from functools import wraps
from typing import Any, Literal

from typer import Option

from sfumato.parameters import Declaration, declarations

KEYWORD_ONLY = inspect.Parameter.KEYWORD_ONLY


def with_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The command as Typer takes it: a parameter whose type declares parameters becomes an option for each of them.

    Its type is a dataclass of declared parameters, or has a function `declared` that lists them.
    """
    own = inspect.signature(command, eval_str=True).parameters
    groups = {name: (each.annotation, _declared(each.annotation)) for name, each in own.items()}

    @wraps(command)
    def run(**given: Any) -> Any:
        for name, (kind, declared) in groups.items():
            if declared:
                given[name] = kind(**{each.name: given.pop(each.name) for each in declared})
        return command(**given)

    shown = [
        option
        for name, (_, declared) in groups.items()
        for option in (map(_option, declared) if declared else [own[name].replace(kind=KEYWORD_ONLY)])
    ]
    vars(run)["__signature__"] = inspect.Signature(shown)
    return run


def _declared(kind: Any) -> tuple[Declaration, ...]:
    if hasattr(kind, "declared"):
        return tuple(kind.declared())
    return declarations(kind) if isinstance(kind, type) and is_dataclass(kind) else ()


def _option(declared: Declaration) -> inspect.Parameter:
    kind: Any = Literal.__getitem__(tuple(declared.choices)) if declared.choices else declared.kind
    kind = kind | None if declared.default is None else kind
    default = ... if declared.required else declared.default
    option = Option(default, spell(declared.name), metavar=declared.metavar, help=declared.help)
    return inspect.Parameter(declared.name, KEYWORD_ONLY, default=option, annotation=kind)


def spell(name: str) -> str:
    return f"--{name.replace('_', '-')}"
