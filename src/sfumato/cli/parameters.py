"""The options of `publish`, from what methods and requirements declare, and the method that given options mean.

A requirement is asked for by the option of its first field. An option that would change nothing is refused.
"""

from typing import Any

from sfumato.cli.declared import DeclaredCommand, spell
from sfumato.errors import ParameterError
from sfumato.methods import METHODS, Method, find_method
from sfumato.parameters import Declaration, declarations
from sfumato.privacy.requirements import REQUIREMENTS, Requirement

MAX_WHOLE = 2.0**53


class PublishCommand(DeclaredCommand):
    """`publish` with an option for every parameter that a method or a requirement declares."""

    def declared(self) -> list[Declaration]:
        return publish_options()

    def format_options(self, ctx: Any, formatter: Any) -> None:
        super().format_options(ctx, formatter)
        taken = {name: ", ".join(options_of(kind)) or "no parameters" for name, kind in METHODS.items()}
        with formatter.section("Methods"):
            formatter.write_dl([(name, f"{_summary(METHODS[name])} Takes {taken[name]}.") for name in METHODS])


def publish_options() -> list[Declaration]:
    """Every option; one that several methods and requirements take says what it is to each."""
    takers = _requirement_options()
    for method in METHODS.values():
        for declared in declarations(method):
            takers.setdefault(declared.name, {})[method.name] = declared
    return [_merge(name, declared) for name, declared in takers.items()]


def options_of(kind: type[Method]) -> list[str]:
    """The options that a method takes, in the order of the alphabet."""
    of_requirements = _requirement_options() if kind.takes_requirements else {}
    return sorted({spell(name) for name in (*of_requirements, *(item.name for item in declarations(kind)))})


def method_from(name: str, options: dict[str, Any]) -> Method:
    """The method of that name with the given options."""
    kind = find_method(name)
    # A fraction where a whole number belongs is refused by the method itself, with its own sentence.
    given = {
        key: _whole(value) if isinstance(value, float) else value for key, value in options.items() if value is not None
    }
    taken = options_of(kind)
    for option in map(spell, given):
        if option not in taken:
            raise ParameterError(f"{name} does not take {option}; it takes {', '.join(taken) or 'no parameters'}")
    for declared in declarations(kind):
        if declared.required and declared.name not in given:
            raise ParameterError(f"{name} needs {_such_as(declared)}")
    own = {item.name: given.pop(item.name) for item in declarations(kind) if item.name in given}
    return kind.under(_requirements(given), **own)


def complete_methods() -> list[str]:
    """The names of all methods, for a shell to complete."""
    return list(METHODS)


def _families() -> dict[str, dict[str, type[Requirement]]]:
    """The requirements by the parameter that asks for them, and by form."""
    found: dict[str, dict[str, type[Requirement]]] = {}
    for kind in filter(declarations, REQUIREMENTS.values()):
        found.setdefault(declarations(kind)[0].name, {})[kind.form] = kind
    return found


def _requirement_options() -> dict[str, dict[str, Declaration]]:
    """The declarations of each option, by the requirements that take it."""
    found: dict[str, dict[str, Declaration]] = {}
    for key, forms in _families().items():
        for kind in forms.values():
            for declared in declarations(kind):
                found.setdefault(declared.name, {})[kind.name] = declared
        if len(forms) > 1:
            meanings = {form: _summary(kind).removesuffix(".") for form, kind in forms.items()}
            about = "; ".join(f"{form}, {text[:1].lower()}{text[1:]}" for form, text in meanings.items())
            meaning = f"what {spell(key)} means ({next(iter(forms))} by default)"
            found[_form(key)] = {meaning: Declaration(kind=str, choices=tuple(forms), help=about)}
    return found


def _merge(name: str, takers: dict[str, Declaration]) -> Declaration:
    """One option for all that take it; a whole number is also a number."""
    kinds = [declared.kind for declared in takers.values()]
    choices = dict.fromkeys(choice for declared in takers.values() for choice in declared.choices)
    takers_of: dict[str, list[str]] = {}
    for taker, declared in takers.items():
        takers_of.setdefault(declared.help, []).append(taker)
    about = "; ".join(f"{', '.join(names)}: {text}" for text, names in takers_of.items())
    kind = float if float in kinds else kinds[0]
    return Declaration(name=name, kind=kind, choices=tuple(choices), help=f"{about}.")


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


def _whole(number: float) -> float:
    """2.0 as 2, so that a release says what was typed."""
    return int(number) if number.is_integer() and abs(number) <= MAX_WHOLE else number


def _summary(kind: type) -> str:
    """The first paragraph of what a class says about itself, in plain text."""
    return " ".join((kind.__doc__ or "").split("\n\n")[0].split()).replace("`", "")
