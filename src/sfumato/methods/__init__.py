"""The methods, one file each, by the names the command line uses."""

from typing import Any

from sfumato.errors import ParameterError
from sfumato.methods.base import DPMethod as DPMethod
from sfumato.methods.base import Method as Method
from sfumato.methods.models.marginals import Marginals as Marginals
from sfumato.methods.models.mst import MST as MST
from sfumato.methods.models.privbayes import PrivBayes as PrivBayes
from sfumato.methods.models.synthesis import Synthesis as Synthesis
from sfumato.methods.models.tables import Tables as Tables
from sfumato.methods.partition.anatomy import Anatomy as Anatomy
from sfumato.methods.partition.endpoints import FullSuppression as FullSuppression
from sfumato.methods.partition.endpoints import Original as Original
from sfumato.methods.partition.full_domain import FullDomain as FullDomain
from sfumato.methods.partition.mdav import MDAV as MDAV
from sfumato.methods.partition.mondrian import Mondrian as Mondrian
from sfumato.methods.perturb.additive_noise import AdditiveNoise as AdditiveNoise
from sfumato.methods.perturb.pram import PRAM as PRAM
from sfumato.methods.perturb.rank_swapping import RankSwapping as RankSwapping
from sfumato.methods.perturb.rounding import Rounding as Rounding
from sfumato.methods.perturb.sampling import Sampling as Sampling
from sfumato.methods.randomize.dirichlet import Dirichlet as Dirichlet
from sfumato.methods.randomize.local_noise import LocalNoise as LocalNoise
from sfumato.methods.trees.diffgen import DiffGen as DiffGen
from sfumato.methods.trees.diffmulti import DiffMulti as DiffMulti
from sfumato.methods.trees.dpcube import DPCube as DPCube
from sfumato.methods.trees.privtree import PrivTree as PrivTree
from sfumato.methods.trees.spatial_tree import RPS as RPS
from sfumato.methods.trees.spatial_tree import HybridTree as HybridTree
from sfumato.methods.trees.spatial_tree import KDTree as KDTree
from sfumato.methods.trees.spatial_tree import QuadTree as QuadTree
from sfumato.privacy.requirements import parse_requirement

PARTITIONS: tuple[type[Method], ...] = (Original, FullSuppression, Mondrian, FullDomain, MDAV, Anatomy)
TREES: tuple[type[Method], ...] = (QuadTree, KDTree, HybridTree, PrivTree, RPS, DiffMulti, DiffGen, DPCube)
MODELS: tuple[type[Method], ...] = (PrivBayes, Marginals, MST, Synthesis, Tables)
RANDOMIZERS: tuple[type[Method], ...] = (Dirichlet, LocalNoise)
PERTURBATIONS: tuple[type[Method], ...] = (RankSwapping, AdditiveNoise, PRAM, Rounding, Sampling)
FAMILIES = {
    "partition": PARTITIONS,
    "trees": TREES,
    "models": MODELS,
    "randomize": RANDOMIZERS,
    "perturb": PERTURBATIONS,
}
METHODS = {kind.name: kind for kinds in FAMILIES.values() for kind in kinds}


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
