"""The settings of synthetic flows as a release tells them, read back: what flows that were made so promise."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from sfumato.data.places import OUTSIDE
from sfumato.errors import ParameterError
from sfumato.mechanisms.dirichlet import Promise
from sfumato.methods.flows.domain import EVERYWHERE, Domain
from sfumato.methods.flows.prior import DistanceHistogram, Prior
from sfumato.methods.flows.synthesis import Synthesizer
from sfumato.parameters import MAX_SHOWN

WRONG = (KeyError, TypeError, ValueError, AttributeError, OverflowError)
NOT_TOLD = np.ones(1)
"""In place of weights and densities, of which a release tells no more than that there were some."""


def parse_promise(spec: Mapping[str, Any]) -> Promise:
    """What the settings promise, whatever else they are."""
    for part in ("epsilon", "rule", "rejection"):
        if part not in spec:
            raise ParameterError(f"{part} is missing")
    if not isinstance(spec["rejection"], bool):
        raise ParameterError(f"rejection is {repr(spec['rejection'])[:MAX_SHOWN]}; expected true or false")
    delta, reject = spec.get("delta", 0.0), spec["rejection"]
    return Promise(epsilon=spec["epsilon"], delta=delta, rule=spec["rule"], reject=reject)


def parse_settings(spec: Mapping[str, Any]) -> Synthesizer:
    """The synthesizer that settings tell of; refuses any that no synthesizer would tell."""
    promise = parse_promise(spec)
    try:
        density = NOT_TOLD if spec.get("density") is True else None
        found = Synthesizer(promise=promise, domain=_domain(spec), prior=_prior(spec), density=density)
    except WRONG as error:
        raise ParameterError(f"no synthetic flows are made so ({type(error).__name__}: {error})") from error
    told = found.spec()
    for part in sorted(spec.keys() | told.keys()):
        if part not in spec or part not in told or spec[part] != told[part]:
            raise ParameterError(f"{part} is {repr(spec.get(part))[:MAX_SHOWN]}; no synthetic flows are made so")
    return found


def _domain(spec: Mapping[str, Any]) -> Domain:
    coarse = tuple((item["people"], item["regions"]) for item in spec.get("coarse", ()))
    return Domain(radius=spec.get("radius_km", EVERYWHERE), beyond=spec.get("beyond", OUTSIDE), coarse=coarse)


def _prior(spec: Mapping[str, Any]) -> Prior:
    known = spec.get("distances")
    return Prior(
        distances=known and DistanceHistogram(edges=tuple(known["up_to_km"]), shares=tuple(known["shares"])),
        by_distance="least_weight" in spec,
        floor=spec.get("least_weight", Prior.floor),
        keep=spec.get("keep", 1.0),
        weights=NOT_TOLD if spec.get("prior") == "weights of places" else None,
    )
