"""Questions by codes and not in words, for tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sfumato.release.answer import Answer, Question, answer
from sfumato.release.coverage import Part, Region
from sfumato.schema.alternatives import Alternatives
from sfumato.schema.codes import Codes, merge_runs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike

    from sfumato.release import Release
    from sfumato.schema import Axis, Schema


def chosen_codes(axis: Axis, chosen: ArrayLike) -> Codes:
    """Chosen positions of an axis, the missing value last."""
    places = np.flatnonzero(np.asarray(chosen)).tolist()
    return Codes(merge_runs((place, place) for place in places if place < axis.size), axis.size in places)


def region(schema: Schema, allowed: Sequence[Codes], chosen: ArrayLike) -> Region:
    """Codes that are allowed on each quasi-identifier, and which sensitive values are."""
    return Region(schema, (Part((*allowed, chosen_codes(schema.sensitive, chosen))),))


def conjunction(allowed: Mapping[Axis, Codes]) -> Alternatives:
    """Rows with allowed codes on every axis."""
    found = Alternatives.everything()
    for axis, codes in allowed.items():
        found = found & Alternatives.of(axis, codes)
    return found


def answer_to(release: Release, allowed: Sequence[Codes], chosen: ArrayLike) -> Answer:
    return answer(release, Question(region(release.schema, allowed, chosen)))
