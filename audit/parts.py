"""The parts of the audit, line by line: what was audited, what was found, whether it is as it should be."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from audit.blackbox.attack import attack
from audit.blackbox.cases import SCENES
from audit.blackbox.twins import TWINS as BLACK_BOX_TWINS
from audit.cases import CASES, EPSILON, PAIRS, large_domains, quick, thorough_settings
from audit.coverage import COMPARISONS, CONTESTS, FEW, HIGHEST, LOWEST, REPETITIONS, SETTINGS, TWIN, distances
from audit.empirical import FAILING, Bound, lower_bound, ratios, rule_of
from audit.enumeration import largest_selection_ratio, shapes
from audit.exact import examine_pair
from audit.intervals import INTERVALS, LEAST
from audit.neighbours import Pair, schema_of
from audit.one_run import ALLOWED, AUDITED, MIN_CAUGHT, QUIET, audit_histogram, audit_method
from audit.twins import QUIETER, TWINS
from audit.urns import BROKEN_URNS, URNS, disclosing_share
from sfumato.estimation.likelihood import likelihood
from sfumato.estimation.updates import smooth
from sfumato.mechanisms.noise import SimulatedSource, SystemSource
from sfumato.methods import PrivTree
from sfumato.reproduce.kacem2018.conjecture import CONJECTURES, PRECISION, SHAPES, Search

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from audit.meddling import Twin
    from sfumato.audit import Audit
    from sfumato.mechanisms.noise import Source

EPSILONS = (0.1, 1.0, 5.0)
TRANSCRIPTS = 6
"""Drawn on either table of each pair."""
TWIN_TRANSCRIPTS = 500
"""The rarest fault shows in one of about a hundred."""
TWIN_RUNS = 8_000
"""Of a twin that transcripts do not show, on either table."""
MIN_SHARE = 1 / 3
"""An empirical bound below this share of the claim would mean that the audit sees too little."""


@dataclass(frozen=True)
class Line:
    """What was audited, what was found, and whether that is as it should be."""

    what: str
    found: str
    right: bool


def source_of(seed: int | None, number: int) -> Source:
    """The operating system's noise, or a repeatable one of its own for each part of the audit."""
    return SystemSource() if seed is None else SimulatedSource(1_000 * seed + number)


def exact_line(number: int, seed: int | None) -> Line:
    """One setting on all pairs, also with domains taken for too large to list, and once with nothing replaced."""
    revealed, transcripts, faults = 0.0, 0, dict[str, str]()
    for epsilon in EPSILONS:
        method = thorough_settings(epsilon)[number]
        passes = [(quick, PAIRS, TRANSCRIPTS)]
        if method.name in ("dpcube", "diffgen"):
            passes.append((large_domains, PAIRS, TRANSCRIPTS))
        if epsilon == EPSILON:
            passes.append((nullcontext, {"taxonomy": PAIRS["taxonomy"]}, 1))
        for replaced, pairs, repeats in passes:
            with replaced():
                for name, pair in pairs.items():
                    for finding in examine_pair(method, pair, source_of(seed, number), repeats):
                        transcripts += 1
                        revealed = max(revealed, finding.reveals)
                        faults |= dict.fromkeys(finding.faults, f"ε={epsilon:g}, {name}")
    told = "; ".join(f"{fault} ({where})" for fault, where in faults.items())
    found = told or f"at most {revealed:.1%} of the claim revealed, {transcripts} transcripts"
    return Line(thorough_settings(EPSILON)[number].label.replace(f" ε={EPSILON:g}", ""), found, not faults)


def enumerated_lines() -> Iterator[Line]:
    """All outputs of selections and of small PrivTrees."""
    half = Fraction(1, 2)
    for what, steps, limit in (("monotone", (0, 1), 2), ("other", (-1, 0, 1), 4)):
        ratio = largest_selection_ratio(3, 4, half, steps)
        yield Line(f"selection, {what} scores", f"largest ratio {ratio}, claimed {limit} (e^ε = 2)", ratio == limit)
    for epsilon in EPSILONS:
        largest, outputs = 0.0, 0
        for rows in range(6):
            pair = Pair(schema_of(x=4), ((2, 0),) * rows, (2, 1))
            for one, other in shapes(PrivTree(epsilon=epsilon), pair):
                largest, outputs = max(largest, abs(one - other)), outputs + 1
        share = largest / (epsilon / 2)
        found = f"{outputs} shapes, at most {share:.1%} of the charge revealed"
        yield Line(f"PrivTree's decisions, ε={epsilon:g}", found, MIN_SHARE < share <= 1)


def empirical_line(number: int, seed: int | None) -> Line:
    """The lower bound for one method."""
    case = CASES[number]
    with quick():
        found = lower_bound(
            ratios(case, case.runs, source_of(seed, 100 + number)), FAILING / len(CASES), rule_of(case.method)
        )
    right = MIN_SHARE * EPSILON < found.epsilon <= EPSILON
    return Line(f"{case.name}, claim {case.method.claim}", f"ε ≥ {found.epsilon:.3f} {_shown(found)}", right)


def _shown(bound: Bound) -> str:
    return f"(a ratio of e^{bound.threshold:.2f} in {bound.likelier:,} against {bound.rarer:,} of {bound.runs:,} runs)"


def twin_line(number: int, seed: int | None) -> Line:
    """How a twin is caught, if it is."""
    twin = (*TWINS, *QUIETER)[number]
    with quick(), twin.replaced():
        caught = _caught_exactly(twin, source_of(seed, 200 + number)) or _caught_by_runs(
            twin, source_of(seed, 300 + number)
        )
    return Line(twin.fault, caught or "not caught", caught is not None)


def _caught_exactly(twin: Twin, source: Source) -> str | None:
    for number, finding in enumerate(
        examine_pair(twin.case.method, twin.case.pair, source, TWIN_TRANSCRIPTS, twin.kind), 1
    ):
        if finding.faults:
            return f"caught by transcript {number}: {finding.faults[0]}"
    return None


def _caught_by_runs(twin: Twin, source: Source) -> str | None:
    found = lower_bound(
        ratios(twin.case, TWIN_RUNS, source, twin.kind), FAILING / len(QUIETER), rule_of(twin.case.method)
    )
    return f"caught: ε ≥ {found.epsilon:.3f} {_shown(found)}" if found.epsilon > EPSILON else None


def urn_line(number: int, seed: int | None) -> Line:
    """How often draws from an urn disclose; those of a broken twin must do so too often."""
    case = (*URNS, *BROKEN_URNS)[number]
    share, least = disclosing_share(case, source_of(seed, 400 + number))
    found = f"{share:.4f} of the draws disclose (probability at least {least:.4f})"
    if case.shrunk < 1:
        return Line(case.what, f"{'caught' if least > case.delta else 'not caught'}: {found}", least > case.delta)
    return Line(case.what, found, least <= case.delta and (share > MIN_SHARE * case.delta or not case.has_teeth))


def conjecture_line(number: int, seed: int | None) -> Line:
    """The geometric mechanism against the best channel of all, which is right if it is known to be the best."""
    shape, steps, epsilon = CONJECTURES[number]
    search = Search(epsilon=epsilon, shares=SHAPES[shape](steps + 1))
    best = search.best()
    geometric, least, bound = search.error(search.geometric), search.error(best), search.lower_bound(best)
    apart = search.deviation(search.geometric) / search.deviation(best)
    verdict = (
        "geometric is the best"
        if geometric <= bound * (1 + PRECISION)
        else (
            f"geometric has {geometric / least:.3f} times the squared error of the best, {apart:.3f} times its "
            "total variation"
        )
    )
    channel = search.channel(best)
    ratios = np.abs(np.diff(np.log(channel[:, channel.max(axis=0) > 0]), axis=0)).max()
    private = ratios <= epsilon + PRECISION and np.abs(channel.sum(axis=1) - 1).max() < PRECISION
    right = bool(private and least - bound <= PRECISION * least)
    return Line(f"{steps + 1} values, {shape}, ε={epsilon:g}", f"{verdict} (to {abs(least / bound - 1):.0e})", right)


def coverage_line(number: int, seed: int | None) -> Line:
    """How often 95% intervals hold the truth; those of the twin must not. With few people, wider ones are right too."""
    setting = (*SETTINGS, *FEW, TWIN)[number]
    cells, cumulative = setting.coverage(REPETITIONS, seed)
    what = f"{setting.mechanism}, {setting.name}, ε={setting.epsilon:g}, {setting.people:,} people"
    found = f"95% intervals hold {cells:.1%} of the shares and {cumulative:.1%} of the cumulative ones"
    holds = LOWEST <= cells <= HIGHEST and cumulative >= LOWEST
    if setting.narrowed < 1:
        return Line(f"intervals {setting.narrowed:g} times as wide", f"hold {cells:.1%} of the shares", not holds)
    if setting in FEW:
        return Line(what, f"95% intervals hold {cumulative:.1%} of the cumulative shares", cumulative >= LOWEST)
    return Line(what, f"{found} ({REPETITIONS} repetitions)", holds)


def interval_line(number: int, seed: int | None) -> Line:
    """How often the answers of a noisy release hold the truth; those of a twin must not.

    Where conditions cut boxes an interval holds more often than it says, and where counts were made to agree their
    noise is smaller than what was drawn; so an interval may hold too often, and must not hold too seldom.
    """
    setting = INTERVALS[number]
    held, alone, answers = setting.shares(seed)
    found = f"{held:.1%} of {answers:,} answers hold the truth, and {alone:.1%} where nothing is cut"
    right = min(held, alone) >= LEAST
    if setting.narrowed < 1:
        return Line(f"{setting.method.label}, {setting.narrowed:g} times as wide", found, not right)
    return Line(setting.method.label, found, right)


def contest_line(number: int, seed: int | None) -> Line:
    """Geometric against rounded Laplace noise at the same ε per unit."""
    name, epsilon = CONTESTS[number]
    ours, theirs = (distances(mechanism, likelihood, name, epsilon, seed) for mechanism in ("geometric", "laplace"))
    found = f"total variation {ours.mean():.4f} with geometric noise, {theirs.mean():.4f} with rounded Laplace noise"
    return Line(f"{name}, ε={epsilon:g}", f"{found} ({COMPARISONS} repetitions)", bool(ours.mean() < theirs.mean()))


def smoothing_line(number: int, seed: int | None) -> Line:
    """Smoothing against the likeliest distribution: it should help humps and hurt a heaped distribution."""
    name, epsilon = CONTESTS[number]
    same = np.random.default_rng(seed).integers(2**63)
    plain, smoother = (distances("geometric", solve, name, epsilon, int(same)).mean() for solve in (likelihood, smooth))
    found = f"total variation {plain:.4f} of the likeliest distribution, {smoother:.4f} with smoothing"
    return Line(f"{name}, ε={epsilon:g}", found, bool((smoother < plain) == (name != "heaped")))


def one_run_line(number: int, seed: int | None) -> Line:
    """Audits of one method by one run each; of a noisy histogram, and of its twin with less noise than it claims."""
    own = None if seed is None else 1_000 * seed + number
    if number < len(AUDITED):
        return _contradictions(AUDITED[number].__name__, audit_method(AUDITED[number], own))
    if number == len(AUDITED):
        return _contradictions("noisy histogram", audit_histogram(1, own))
    audits = audit_histogram(1, own, quiet=QUIET)
    caught = sum(audit.contradicted for audit in audits)
    least = min(audit.bound for audit in audits)
    found = f"caught in {caught} of {len(audits)} runs, ε ≥ {least:.2f} at the least"
    return Line(f"noisy histogram with 1/{QUIET} of the noise", found, caught >= MIN_CAUGHT * len(audits))


def _contradictions(what: str, audits: list[Audit]) -> Line:
    broken = sum(audit.contradicted for audit in audits)
    share = max(audit.bound / audit.epsilon for audit in audits)
    found = f"contradicted in {broken} of {len(audits)} runs, {ALLOWED} are allowed; at most {share:.2f} of the claim"
    return Line(f"{what} by one run", found, broken <= ALLOWED)


def black_box_line(number: int, seed: int | None) -> Line:
    """What the best attack from outside shows: no more than was claimed, or more of a broken twin."""
    twin = BLACK_BOX_TWINS[number - len(SCENES)] if number >= len(SCENES) else None
    scene = twin.scene if twin else SCENES[number]
    with twin.replaced() if twin else nullcontext():
        # By turns, so that the time of day tells nothing.
        runs = [[scene.play(present=there) for there in (False, True)] for _ in range(scene.runs)]
    without, present = zip(*runs, strict=True)
    found = attack(without, present, FAILING / (len(SCENES) + len(BLACK_BOX_TWINS)), delta=scene.delta)
    shown = f"ε ≥ {found.epsilon:.2f} by {found.statistic} {_shown(found.bound)}"
    broken = found.epsilon > scene.epsilon
    return (
        Line(twin.fault, f"{'caught' if broken else 'not caught'}: {shown}", broken)
        if twin
        else Line(f"{scene.name}, claim {scene.epsilon:g}", shown, not broken)
    )


PARTS: dict[str, tuple[Callable[[int, int | None], Line], int]] = {
    "exact": (exact_line, len(thorough_settings(EPSILON))),
    "empirical": (empirical_line, len(CASES)),
    "twins": (twin_line, len(TWINS) + len(QUIETER)),
    "black-box": (black_box_line, len(SCENES) + len(BLACK_BOX_TWINS)),
    "urns": (urn_line, len(URNS) + len(BROKEN_URNS)),
    "conjecture": (conjecture_line, len(CONJECTURES)),
    "intervals": (interval_line, len(INTERVALS)),
    "coverage": (coverage_line, len(SETTINGS) + len(FEW) + 1),
    "laplace": (contest_line, len(CONTESTS)),
    "smoothing": (smoothing_line, len(CONTESTS)),
    "one-run": (one_run_line, len(AUDITED) + 2),
}
