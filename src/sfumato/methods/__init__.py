"""The methods, one file each, by the names the command line uses."""

from __future__ import annotations

from typing import Any

from sfumato.errors import ParameterError
from sfumato.methods.base import DPMethod, Method
from sfumato.methods.models.marginals import Marginals
from sfumato.methods.models.mst import MST
from sfumato.methods.models.privbayes import PrivBayes
from sfumato.methods.partition.anatomy import Anatomy
from sfumato.methods.partition.endpoints import FullSuppression, Original
from sfumato.methods.partition.mondrian import Mondrian
from sfumato.methods.randomize.dirichlet import Dirichlet
from sfumato.methods.randomize.local_noise import LocalNoise
from sfumato.methods.trees.diffgen import DiffGen
from sfumato.methods.trees.diffmulti import DiffMulti
from sfumato.methods.trees.dpcube import DPCube
from sfumato.methods.trees.hybrid_tree import HybridTree
from sfumato.methods.trees.kd_tree import KDTree
from sfumato.methods.trees.privtree import PrivTree
from sfumato.methods.trees.quad_tree import QuadTree
from sfumato.methods.trees.rps import RPS
from sfumato.privacy.requirements import parse_requirement

METHODS: dict[str, type[Method]] = {
    kind.name: kind
    for kind in (
        Original,
        FullSuppression,
        Mondrian,
        Anatomy,
        QuadTree,
        KDTree,
        HybridTree,
        PrivTree,
        RPS,
        DiffMulti,
        DiffGen,
        DPCube,
        PrivBayes,
        Marginals,
        MST,
        Dirichlet,
        LocalNoise,
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
    "METHODS",
    "MST",
    "RPS",
    "Anatomy",
    "DPCube",
    "DPMethod",
    "DiffGen",
    "DiffMulti",
    "Dirichlet",
    "FullSuppression",
    "HybridTree",
    "KDTree",
    "LocalNoise",
    "Marginals",
    "Method",
    "Mondrian",
    "Original",
    "PrivBayes",
    "PrivTree",
    "QuadTree",
    "find_method",
    "make_method",
]
