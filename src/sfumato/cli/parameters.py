"""From the options of `publish` to a method; an option that would change nothing is refused."""

from __future__ import annotations

from dataclasses import MISSING, asdict, dataclass, fields
from typing import TYPE_CHECKING, Any, Literal

from sfumato.errors import ParameterError

if TYPE_CHECKING:
    from sfumato.methods import Method
    from sfumato.privacy.requirements import Requirement

DiversityForm = Literal["probabilistic", "distinct", "entropy", "recursive"]
LARGEST_WHOLE = 2.0**53
_OPTIONS_OF = {
    "mondrian": {"k", "l", "l_form", "c", "t", "distance", "delta", "alpha", "beta", "enhanced", "cut", "recoding"}
}
_SUCH_AS = {"l": "3", "epsilon": "1", "height": "6", "h": "100", "utility": "ncp", "degree": "2"}
_NEEDED_BY = {"l_form": "l", "c": "l", "distance": "t", "alpha": "k", "enhanced": "beta"}


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """What was given on the command line; `None` where nothing was."""

    k: int | None = None
    l: float | None = None
    l_form: DiversityForm | None = None
    c: float | None = None
    t: float | None = None
    distance: str | None = None
    delta: float | None = None
    alpha: float | None = None
    beta: float | None = None
    enhanced: bool | None = None
    cut: str | None = None
    recoding: str | None = None
    epsilon: float | None = None
    height: int | None = None
    h: int | None = None
    utility: str | None = None
    degree: int | None = None
    levels: int | None = None
    mechanism: str | None = None

    @property
    def given(self) -> dict[str, Any]:
        """The options that were given."""
        return {name: value for name, value in asdict(self).items() if value is not None}


def method_from(name: str, parameters: Parameters) -> Method:
    """The method of that name with the given parameters."""
    from sfumato.methods import find_method, make_method

    kind = find_method(name)
    given = parameters.given
    _refuse_others(name, given, _OPTIONS_OF.get(name, _fields_of(kind)))
    if name == "mondrian":
        return _mondrian(parameters)
    for item in fields(kind):
        if item.default is MISSING and item.default_factory is MISSING and item.name not in given:
            option = _spelled(item.name)
            raise ParameterError(f"{name} needs {option}, such as {option} {_SUCH_AS.get(item.name, 1)}")
    # A fraction where a whole number belongs is refused by the method itself, with its own sentence.
    return make_method(
        name, {key: _whole(value) if isinstance(value, float) else value for key, value in given.items()}
    )


def _fields_of(kind: type[Method]) -> set[str]:
    """The options that are parameters of a method, by its own account."""
    return {item.name for item in fields(kind)} & {item.name for item in fields(Parameters)}


def _refuse_others(name: str, given: dict[str, Any], taken: set[str]) -> None:
    for option in given:
        if option not in taken:
            options = ", ".join(_spelled(other) for other in sorted(taken)) or "no parameters"
            raise ParameterError(f"{name} does not take {_spelled(option)}; it takes {options}")
        needed = _NEEDED_BY.get(option)
        if needed and needed not in given:
            raise ParameterError(f"{_spelled(option)} means nothing without {_spelled(needed)}")


def _spelled(option: str) -> str:
    return f"--{option.replace('_', '-')}"


def _mondrian(given: Parameters) -> Method:
    from sfumato.methods import Mondrian
    from sfumato.privacy.requirements import AlphaK, BetaLikeness

    requirements: list[Requirement] = []
    if given.alpha is not None and given.k is not None:
        requirements.append(AlphaK(alpha=given.alpha, k=given.k))
    if given.l is not None and given.l_form not in (None, "probabilistic"):
        requirements.append(_diversity(given))
    elif given.c is not None:
        raise ParameterError("--c belongs to --l-form recursive")
    if given.beta is not None:
        requirements.append(BetaLikeness(beta=given.beta, enhanced=bool(given.enhanced)))
    choices: dict[str, Any] = {
        name: value for name, value in given.given.items() if name in ("t", "distance", "delta", "cut", "recoding")
    }
    if given.alpha is None:
        choices["k"] = given.k
    if given.l_form in (None, "probabilistic") and given.l is not None:
        choices["l"] = _whole(given.l)
    return Mondrian(**choices, requirements=tuple(requirements))


def _diversity(given: Parameters) -> Requirement:
    from sfumato.privacy.requirements import DistinctLDiversity, EntropyLDiversity, RecursiveLDiversity

    assert given.l is not None
    l = _whole(given.l)
    if given.l_form == "recursive":
        if given.c is None:
            raise ParameterError("--l-form recursive needs --c, such as --c 2")
        # A fraction is refused by the requirement itself.
        return RecursiveLDiversity(l=l, c=given.c)  # type: ignore[arg-type]
    if given.c is not None:
        raise ParameterError("--c belongs to --l-form recursive")
    return DistinctLDiversity(l=l) if given.l_form == "distinct" else EntropyLDiversity(l=l)


def _whole(number: float) -> float:
    """2.0 as 2, so that a release says what was typed."""
    return int(number) if number.is_integer() and abs(number) <= LARGEST_WHOLE else number
