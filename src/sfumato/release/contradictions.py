"""What a claim rules out about the table that stands beside it, whatever its classes hold.

A claim is a sentence about people. It cannot be true of counts with noise, of weights that do not add up, of sensitive
labels that tell quasi-identifiers, or without the caveats that the schema of the table implies.
"""

import numpy as np

from sfumato.privacy.claims import Claim
from sfumato.privacy.claims.differential import ONE_ROW, WHO
from sfumato.release.content import Content
from sfumato.release.possible import inside_impossible
from sfumato.release.tables import WHOLE
from sfumato.release.telling import telling_labels


def find_contradictions(release: Content) -> list[str]:
    """A sentence for each way in which a table contradicts its claim; none where nothing is promised."""
    claim = release.claim
    if not claim.promises:
        return []
    implied = release.schema.caveats(noise=claim.noise is not None)
    found = [*missing_caveats(claim, implied), *_replaced(release)]
    if claim.unit != release.schema.protect:
        found.append(
            f"the claim protects every {claim.unit}, but its rows were chosen for each {release.schema.protect}"
        )
    return [*found, *(_against_noise(release) if claim.noise else _without_noise(release))]


def missing_caveats(claim: Claim, implied: tuple[str, ...]) -> list[str]:
    """A sentence for each caveat that is implied and that the claim leaves out.

    A claim that says who is a person need not say that every person has at most one row.
    """
    says_who = any(WHO[claim.unit] in line for line in claim.assumptions)
    missing = [caveat for caveat in implied if caveat not in claim.assumptions]
    return [f"the claim leaves out that {caveat}" for caveat in missing if not (says_who and ONE_ROW in caveat)]


def _replaced(release: Content) -> list[str]:
    """Counts of values that were replaced, where the schema replaces none, or noise would have to cover them."""
    columns = {axis.name: axis.off_schema for axis in release.schema.modelled}
    found = [
        f"{name} is said to have values that were replaced, which its schema does not declare"
        for name in release.provenance.off_schema
        if not columns.get(name)
    ]
    if release.provenance.off_schema and release.claim.noise:
        found.append("it counts values that were replaced, which no noise covers")
    return found


def _against_noise(release: Content) -> list[str]:
    """What cannot stand beside a promise that rests on noise."""
    found = []
    if release.schema.from_data:
        names = ", ".join(release.schema.from_data)
        found.append(f"the bounds or values of {names} were read off the rows, which no noise covers")
    if release.schema.unread:
        names = ", ".join(release.schema.unread)
        found.append(f"{names} is published as it is, without noise")
    if release.exact_people and not release.claim.shows_presence:
        found.append("the rows are said to be those of real people, whose presence the claim hides")
    return [*found, *_impossible(release)]


def _impossible(release: Content) -> list[str]:
    """Generated rows that the schema declares impossible; those of real people may say what they like."""
    if release.layout != "rows" or release.deviation is None or release.exact_people or release.channel:
        return []
    rows = [(text, float(release.counts[inside].sum())) for text, inside in inside_impossible(release)]
    return [f"it has {count:g} rows that its schema declares impossible: {text}" for text, count in rows if count > 0]


def _without_noise(release: Content) -> list[str]:
    """What cannot stand beside a promise about classes of people."""
    found = []
    if release.layout == "counts" or release.noisy or release.exact_people:
        found.append("noisy or fractional counts stand for no people, and the claim is about classes of people")
    weights = np.bincount(release.group_of, release.weights, len(release.histograms))
    if (np.abs(weights - release.histograms.sum(axis=1)) > WHOLE).any():
        found.append("a class has more or fewer rows than sensitive values")
    told = [label for column in release.schema.secret_names for label in telling_labels(release.focused(column))]
    if told:
        more = f" and {len(told) - 1} more" if len(told) > 1 else ""
        found.append(f"sensitive labels tell more of the quasi-identifiers than the classes do: {told[0]}{more}")
    return found
