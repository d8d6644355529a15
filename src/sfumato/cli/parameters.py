"""The options of `publish`, from what methods and requirements declare, and the method that given options mean.

A requirement is asked for by the option of its first field. An option that would change nothing is refused.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from typer.core import TyperCommand

from sfumato.cli.declared import spell
from sfumato.errors import ParameterError
from sfumato.methods import METHODS, Method, find_method
from sfumato.parameters import Declaration, declarations
from sfumato.privacy.requirements import REQUIREMENTS, OfColumn, Requirement
from sfumato.release.query import read_queries

MAX_WHOLE = 2.0**53
OF_COLUMN = (
    Declaration(
        name="of",
        kind=list[str],
        default=None,
        optional=True,
        metavar="COLUMN:...",
        help="Requirements of one of several sensitive columns, such as 'income: l=2, t=0.3'; those that are given by "
        "themselves are asked of each. May be repeated.",
    ),
    Declaration(
        name="others_known",
        kind=bool,
        default=None,
        optional=True,
        help="Requirements on the values of a sensitive column hold also for those who know a person's other sensitive "
        "columns.",
    ),
)
"""Options about several sensitive columns, which methods take that take requirements."""


class PublishCommand(TyperCommand):
    """`publish`, whose help ends with the methods."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        super().format_options(ctx, formatter)
        with formatter.section("Methods"):
            formatter.write_dl([(name, f"{_summary(kind)} Takes {_taken(kind)}.") for name, kind in METHODS.items()])


class MethodOptions(dict[str, Any]):
    """What was given for every parameter that a method or a requirement declares; `None` where nothing was."""

    @staticmethod
    def declared() -> list[Declaration]:
        """Every option; one that several methods and requirements take says what it is to each."""
        of_methods = [(name, declared) for name, kind in METHODS.items() for declared in declarations(kind)]
        takers: dict[str, dict[str, Declaration]] = {}
        for taker, declared in (*_of_requirements(), *of_methods):
            takers.setdefault(declared.name, {})[taker] = declared
        return [*(_merge(name, declared) for name, declared in takers.items()), *OF_COLUMN]


def options_of(kind: type[Method]) -> list[str]:
    """The options that a method takes, in the order of the alphabet."""
    of_requirements = [*(declared for _, declared in _of_requirements()), *OF_COLUMN] if kind.takes_requirements else []
    return sorted({spell(declared.name) for declared in (*of_requirements, *declarations(kind))})


def _taken(kind: type[Method]) -> str:
    return ", ".join(options_of(kind)) or "no parameters"


def method_from(name: str, options: dict[str, Any]) -> Method:
    """The method of that name with the given options."""
    kind = find_method(name)
    # A fraction where a whole number belongs is refused by the method itself, with its own sentence.
    given = {key: _whole(value) for key, value in options.items() if value not in (None, [])}
    for option in map(spell, given):
        if option not in options_of(kind):
            raise ParameterError(f"{name} does not take {option}; it takes {_taken(kind)}")
    for declared in declarations(kind):
        needed = declared.required or (declared.unless and declared.unless not in given)
        if needed and declared.name not in given:
            raise ParameterError(f"{name} needs {_such_as(declared)}{_or_else(declared)}")
    own = {item.name: _texts(item, given.pop(item.name)) for item in declarations(kind) if item.name in given}
    known, columns = given.pop("others_known", False), given.pop("of", [])
    asked = [*_requirements(given), *(one for text in columns for one in _of_column(text))]
    return kind.under([OfColumn.each(one) for one in asked] if known else asked, **own)


def options_for(method: Method, texts: Path | None = None) -> list[str]:
    """The options with which `method_from` makes a method again; `texts` is the file in which its texts stand."""
    file = str(texts or "FILE")
    given = {name: file if isinstance(value, tuple) else value for name, value in method.parameters().items()}.items()
    return [word for name, value in given for word in ((spell(name),) if value is True else (spell(name), str(value)))]


def _texts(declared: Declaration, value: Any) -> Any:
    """Several texts stand in a file, one on each line."""
    return read_queries(value) if declared.kind is tuple else value


def complete_methods() -> list[str]:
    return list(METHODS)


def _families() -> dict[str, dict[str, type[Requirement]]]:
    """The requirements by the parameter that asks for them, and by form."""
    found: dict[str, dict[str, type[Requirement]]] = {}
    for kind in filter(declarations, REQUIREMENTS.values()):
        found.setdefault(declarations(kind)[0].name, {})[kind.form] = kind
    return found


def _of_requirements() -> Iterator[tuple[str, Declaration]]:
    """Every option of a requirement, and what takes it."""
    for key, forms in _families().items():
        for kind in forms.values():
            yield from ((kind.name, declared) for declared in declarations(kind))
        if len(forms) > 1:
            meanings = {form: _summary(kind).removesuffix(".") for form, kind in forms.items()}
            about = "; ".join(f"{form}, {text[:1].lower()}{text[1:]}" for form, text in meanings.items())
            meaning = f"what {spell(key)} means ({next(iter(forms))} by default)"
            yield meaning, Declaration(name=_form(key), kind=str, choices=tuple(forms), help=about)


def _merge(name: str, takers: dict[str, Declaration]) -> Declaration:
    """One option for all that take it; a whole number is also a number."""
    kinds = [declared.kind for declared in takers.values()]
    choices = dict.fromkeys(choice for declared in takers.values() for choice in declared.choices)
    takers_of: dict[str, list[str]] = {}
    for taker, declared in takers.items():
        takers_of.setdefault(declared.help, []).append(taker)
    about = "; ".join(f"{', '.join(names)}: {text}" for text, names in takers_of.items())
    kind = float if float in kinds else kinds[0]
    metavar = next((declared.metavar for declared in takers.values() if declared.metavar), None)
    return Declaration(
        name=name, kind=Path if kind is tuple else kind, choices=tuple(choices), help=f"{about}.", metavar=metavar
    )


def _requirements(given: dict[str, Any]) -> list[Requirement]:
    """The requirements that are asked for; one whose only option another takes along is part of that."""
    asked, used = [], set()
    for key, forms in _families().items():
        if key in given:
            kind = forms[given.get(_form(key), next(iter(forms)))]
            asked.append(kind)
            used |= {_form(key), *(declared.name for declared in declarations(kind))}
    for option in given:
        if option not in used:
            raise ParameterError(_idle(option, given))
    taken_along = {declared.name for kind in asked for declared in declarations(kind)[1:]}
    return [_make(kind, given) for kind in asked if declarations(kind)[0].name not in taken_along]


def _of_column(text: str) -> list[Requirement]:
    """The requirements of one column, such as `income: l=2, t=0.3`."""
    column, colon, rest = text.rpartition(":")
    options = {declared.name: declared for _, declared in _of_requirements()}
    given: dict[str, Any] = {}
    for part in rest.split(","):
        name, equals, value = (word.strip() for word in part.partition("="))
        key = name.replace("-", "_")
        if not column.strip() or not colon or not equals or key not in options:
            shown = ", ".join(sorted(options))
            raise ParameterError(f"--of is {text!r}; expected a column and requirements, COLUMN: l=2, of {shown}")
        given[key] = value if options[key].choices else _number(value, f"{name} in --of {text!r}")
    return [OfColumn(requirement=one, column=column.strip()) for one in _requirements(given)]


def _number(text: str, what: str) -> Any:
    try:
        return _whole(float(text))
    except ValueError as error:
        raise ParameterError(f"{what} is {text!r}; expected a number") from error


def _make(kind: type[Requirement], given: dict[str, Any]) -> Requirement:
    key, *others = declarations(kind)
    for declared in others:
        if declared.required and declared.name not in given:
            if kind.form:
                raise ParameterError(f"{spell(_form(key.name))} {kind.form} needs {_such_as(declared)}")
            raise ParameterError(f"{spell(key.name)} means nothing without {spell(declared.name)}")
    return kind(**{declared.name: given[declared.name] for declared in (key, *others) if declared.name in given})


def _idle(option: str, given: dict[str, Any]) -> str:
    """Why an option of a requirement that was not asked for changes nothing."""
    for key, forms in _families().items():
        for form, kind in forms.items():
            if option in (_form(key), *(declared.name for declared in declarations(kind)[1:])):
                if key in given:
                    return f"{spell(option)} belongs to {spell(_form(key))} {form}"
                return f"{spell(option)} means nothing without {spell(key)}"
    raise AssertionError(option)


def _form(key: str) -> str:
    return f"{key}_form"


def _such_as(declared: Declaration) -> str:
    return f"{spell(declared.name)}, such as {spell(declared.name)} {declared.example}"


def _or_else(declared: Declaration) -> str:
    return f", or {spell(declared.unless)}" if declared.unless else ""


def _whole(value: Any) -> Any:
    """2.0 as 2, so that a release says what was typed."""
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) <= MAX_WHOLE else value


def _summary(kind: type) -> str:
    """The first paragraph of what a class says about itself, in plain text."""
    return " ".join((kind.__doc__ or "").split("\n\n")[0].split()).replace("`", "")
