"""Parameters that explain themselves: a dataclass field with its help, range, choices and an example.

From a declaration such as `k: int = parameter(help="at least this many people in a class", minimum=1, example=10)`
follow the check of its values, the option of the command line with its help, and the label of a setting.
"""

import dataclasses
import sys
import types
from collections.abc import Sequence
from dataclasses import MISSING, dataclass
from functools import cache
from numbers import Integral, Real
from typing import Any, Literal, Union, cast, get_args, get_origin, get_type_hints

from sfumato.errors import ParameterError

MAX_SIZE = 1e12
"""No number is larger, so that it can be computed with."""
MAX_SHOWN = 60
"""Characters of a refused value."""
_KEY = "parameter"


@dataclass(frozen=True, kw_only=True)
class Declaration:
    """What a field says about itself; `name`, `kind` and `default` are the field's own.

    `label` is how a setting shows the value, with what separates it from the text before; it is shown where it
    differs from the default, or `always`. There is no setting without it, `unless` another parameter is given.
    """

    name: str = ""
    kind: type = float
    optional: bool = False
    default: Any = None
    help: str
    example: Any = None
    minimum: float | None = None
    above: float | None = None
    maximum: float | None = None
    below: float | None = None
    choices: Sequence[str] = ()
    metavar: str | None = None
    label: str = ""
    always: bool = False
    unless: str = ""

    @property
    def required(self) -> bool:
        """Whether there is no setting without it."""
        return self.default is MISSING

    @property
    def expected(self) -> str:
        """What a value has to be, in words."""
        if self.choices:
            return f"one of {', '.join(self.choices)}"
        if self.kind is bool:
            return "true or false"
        if self.kind in (str, tuple):
            return "a text" if self.kind is str else "texts"
        number = "a whole number" if self.kind is int else "a number"
        if self.minimum is not None and self.maximum is not None:
            return f"{number} from {self.minimum:,} to {self.maximum:,}"
        bounds = {"of at least": self.minimum, "above": self.above, "at most": self.maximum, "below": self.below}
        limits = " and ".join(f"{words} {bound:,}" for words, bound in bounds.items() if bound is not None)
        return f"{number} {limits}".strip()

    def accepts(self, value: object) -> bool:
        """Whether a value has the right type and lies in the range."""
        if value is None:
            return self.optional
        if self.choices:
            return isinstance(value, str) and value in self.choices
        if self.kind is tuple:
            return isinstance(value, tuple) and all(isinstance(part, str) and part for part in value)
        if self.kind is str:
            return isinstance(value, str) and bool(value)
        if self.kind is bool or isinstance(value, bool):
            return self.kind is bool and isinstance(value, bool)
        if not isinstance(value, Integral if self.kind is int else Real):
            return False
        number = cast(float, value)
        return (
            abs(number) <= MAX_SIZE
            and (self.minimum is None or number >= self.minimum)
            and (self.above is None or number > self.above)
            and (self.maximum is None or number <= self.maximum)
            and (self.below is None or number < self.below)
        )


def parameter(*, default: Any = MISSING, **about: Any) -> Any:
    """A field of a dataclass with what `Declaration` says about it."""
    return dataclasses.field(default=default, metadata={_KEY: about})


@cache
def declarations(kind: type) -> tuple[Declaration, ...]:
    """The declared parameters of a dataclass, in the order of its fields."""
    return tuple(
        Declaration(name=item.name, default=item.default, **{**_type_of(kind, item.name), **item.metadata[_KEY]})
        for item in dataclasses.fields(kind)
        if _KEY in item.metadata
    )


def check_parameters(owner: object, *names: str) -> None:
    """Refuse a value out of its range, of all parameters or of some; a NumPy number becomes a plain one.

    Call it from `__post_init__`.
    """
    kind: type = type(owner)
    for declared in (item for item in declarations(kind) if not names or item.name in names):
        value = getattr(owner, declared.name)
        if not declared.accepts(value):
            raise ParameterError(f"{declared.name} is {repr(value)[:MAX_SHOWN]}; expected {declared.expected}")
        if hasattr(value, "item"):
            object.__setattr__(owner, declared.name, value.item())


def label_of(owner: object) -> str:
    """The values of a setting in short, to follow its title."""
    kind: type = type(owner)
    return "".join(
        (declared.label or f" {declared.name}={{}}").format(len(value) if isinstance(value, tuple) else value)
        for declared in declarations(kind)
        if (value := getattr(owner, declared.name)) != declared.default or declared.always
    )


def _type_of(kind: type, name: str) -> dict[str, Any]:
    """The type of a field without `None`, whether `None` is allowed, and the choices of a literal."""
    owner = next(base for base in kind.__mro__ if name in vars(base).get("__annotations__", {}))
    alone = types.SimpleNamespace(__annotations__={name: owner.__annotations__[name]})
    hint = get_type_hints(alone, vars(sys.modules[owner.__module__]))[name]
    union = get_origin(hint) in (Union, types.UnionType)
    parts = [part for part in (get_args(hint) if union else (hint,)) if part is not types.NoneType]
    found: dict[str, Any] = {"optional": union and len(parts) < len(get_args(hint)), "kind": parts[0]}
    if get_origin(parts[0]) is Literal:
        found |= {"kind": str, "choices": get_args(parts[0])}
    return {**found, "kind": tuple} if get_origin(parts[0]) is tuple else found
