"""A paper: its experiments and its statements."""

from dataclasses import dataclass

from sfumato.errors import ParameterError
from sfumato.reproduce.experiment import Experiment
from sfumato.reproduce.statement import Statement


@dataclass(frozen=True, kw_only=True)
class Paper:
    """`stand_in` says which data stands in for the paper's own, if any does."""

    name: str
    title: str
    reference: str
    experiments: tuple[Experiment, ...]
    statements: tuple[Statement, ...]
    stand_in: str = ""

    def choose(self, figure: str | None) -> list[Experiment]:
        """The experiments of a figure by its number, such as 2 or 2a, or the one of a name; without either, all."""
        if figure is None:
            return list(self.experiments)
        chosen = [one for one in self.experiments if one.name == figure or _is_figure(one.name, figure)]
        if not chosen:
            offered = ", ".join(one.name.removeprefix("figure-") for one in self.experiments)
            raise ParameterError(f"{self.name} has no figure {figure!r} to reproduce; expected one of {offered}")
        return chosen

    def command(self, experiment: str = "") -> str:
        """The command that reproduces an experiment, or the paper."""
        chosen = f" --figure {experiment.removeprefix('figure-')}" if experiment else ""
        return f"sfumato reproduce {self.name}{chosen}"


def _is_figure(name: str, figure: str) -> bool:
    """Whether an experiment draws a figure or a part of it: 2 stands for figure-2a and figure-2b, not for figure-21."""
    rest = name.removeprefix(f"figure-{figure}")
    return name.startswith(f"figure-{figure}") and not rest[:1].isdigit()
