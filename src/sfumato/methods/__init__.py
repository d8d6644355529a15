"""The methods, one file each, by the names the command line uses."""

from __future__ import annotations

from typing import Any

from sfumato.errors import ParameterError
from sfumato.methods.anatomy import Anatomy
from sfumato.methods.base import DPMethod, Method
from sfumato.methods.diffgen import DiffGen
from sfumato.methods.diffmulti import DiffMulti
from sfumato.methods.dirichlet import Dirichlet
from sfumato.methods.dpcube import DPCube
from sfumato.methods.endpoints import FullSuppression, Original
from sfumato.methods.hybrid_tree import HybridTree
from sfumato.methods.kd_tree import KDTree
from sfumato.methods.local_noise import LocalNoise
from sfumato.methods.marginals import Marginals
from sfumato.methods.mondrian import Mondrian
from sfumato.methods.mst import MST
from sfumato.methods.privbayes import PrivBayes
from sfumato.methods.privtree import PrivTree
from sfumato.methods.quad_tree import QuadTree
from sfumato.methods.rps import RPS
from sfumato.privacy.requirements import parse_requirement

METHODS: dict[str, type[Method]] = {
    kind.name: kind
    for kind in (
        Original, FullSuppression, Mondrian, Anatomy, QuadTree, KDTree, HybridTree, PrivTree, RPS, DiffMulti, DiffGen,
        DPCube, PrivBayes, Marginals, MST, Dirichlet, LocalNoise,
    )
}


def find_method(name: str) -> type[Method]:
    """The kind of method with a name."""
    if name not in METHODS:
        raise ParameterError(f"{name!r} is not a known method; expected one of {', '.join(METHODS)}")
    return METHODS[name]


def make_method(name: str, parameters: dict[str, Any]) -> Method:
    """The method that a stored trial or a release file names."""
    kind = find_method(name)
    given = dict(parameters)
    if "requirements" in given:
        given["requirements"] = tuple(parse_requirement(spec) for spec in given["requirements"])
    try:
        return kind(**given)
    except TypeError as error:
        raise ParameterError(f"{name} does not take the parameters {', '.join(given) or 'none'}") from error


__all__ = [
    "METHODS", "MST", "RPS", "Anatomy", "DPCube", "DPMethod", "DiffGen", "DiffMulti", "Dirichlet", "FullSuppression",
    "HybridTree", "KDTree", "LocalNoise", "Marginals", "Method", "Mondrian", "Original", "PrivBayes", "PrivTree",
    "QuadTree", "find_method", "make_method",
]
