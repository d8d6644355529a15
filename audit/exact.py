"""The exact audit: for transcripts drawn on a table, what every call reveals about one row, against what it paid.

For every transcript: the neighbour asks the same questions and publishes the same release from the same answers; no
call could reveal more, by any answer, than its path paid for it; all calls together no more than the total; and under
pure ε the logarithm of the ratio of the two probabilities is at most ε. Chance only decides where a transcript goes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from audit.transcript import AuditedBudget, DivergedError, Replay, Transcript, amount
from sfumato.privacy.loss import Loss, Pure
from sfumato.release.measured import Measured

if TYPE_CHECKING:
    from collections.abc import Iterator

    from audit.neighbours import Pair
    from sfumato.data import Table
    from sfumato.mechanisms.noise import Source
    from sfumato.methods.base import DPMethod
    from sfumato.release import Release

ROUNDING = 1e-9


@dataclass(frozen=True)
class Finding:
    """What one transcript says: the log-ratio, the share of the total that its calls may reveal, and faults."""

    log_ratio: float
    reveals: float
    faults: tuple[str, ...]


def recorded(
    method: DPMethod, table: Table, source: Source, kind: type[AuditedBudget] = AuditedBudget
) -> tuple[Transcript, Release]:
    """A run of a method, written down."""
    transcript = Transcript()
    return transcript, method._release(table, kind(_per_row(method, table), source, transcript))


def _per_row(method: DPMethod, table: Table) -> Loss:
    """What a release may cost each row of a person."""
    return method.total.per_row(table.schema.rows_per_person)


def replayed(
    method: DPMethod, table: Table, transcript: Transcript, source: Source, kind: type[AuditedBudget] = AuditedBudget
) -> tuple[Replay, Release]:
    """A run on another table that is given the answers of a transcript."""
    replay = Replay(transcript)
    return replay, method._release(table, kind(_per_row(method, table), source, replay))


def log_ratio(
    method: DPMethod, table: Table, other: Table, source: Source, kind: type[AuditedBudget] = AuditedBudget
) -> float:
    """ln P(transcript | other table) − ln P(transcript | table) for a transcript drawn on the table."""
    transcript, release = recorded(method, table, source, kind)
    try:
        replay, again = replayed(method, other, transcript, source, kind)
    except DivergedError:
        return -math.inf
    return replay.log_ratio if replay.finished and not differences(release, again) else -math.inf


def examine(
    method: DPMethod, table: Table, other: Table, source: Source, kind: type[AuditedBudget] = AuditedBudget
) -> Finding:
    """All that is wrong with one transcript, drawn on `table` and read on `other`."""
    transcript, release = recorded(method, table, source, kind)
    try:
        replay, again = replayed(method, other, transcript, source, kind)
    except DivergedError as error:
        return Finding(-math.inf, math.inf, (f"the neighbour's run differs: {error}",))
    limit = amount(method.total)
    faults = [] if replay.finished else ["the neighbour's run asks less"]
    faults += [f"the neighbour's release differs in {name}" for name in differences(release, again)]
    faults += [
        f"{call.kind} reveal {call.reveals:.6g} but paid {call.charged:.6g}"
        for call in replay.calls
        if exceeds(call.reveals, call.charged * limit / amount(_per_row(method, table)))
    ]
    faults += [f"{call.kind} of {call.paths} paths depend on one row" for call in replay.calls if call.paths > 1]
    together = {"all calls together": replay.reveals}
    if isinstance(method.total, Pure):
        together["the transcript"] = abs(replay.log_ratio)
    faults += [
        f"{what} reveal {found:.6g}, above {limit:.6g}" for what, found in together.items() if exceeds(found, limit)
    ]
    return Finding(replay.log_ratio, replay.reveals / limit, tuple(faults))


def examine_pair(
    method: DPMethod, pair: Pair, source: Source, repeats: int, kind: type[AuditedBudget] = AuditedBudget
) -> Iterator[Finding]:
    """Transcripts drawn on either table."""
    for _ in range(repeats):
        yield examine(method, pair.without, pair.added, source, kind)
        yield examine(method, pair.added, pair.without, source, kind)


def exceeds(amount: float, limit: float) -> bool:
    """Whether an amount is above its limit by more than rounding."""
    return amount > limit * (1 + ROUNDING) + ROUNDING


def differences(one: Release, other: Release) -> list[str]:
    """The parts of two releases that are not the same to the last bit."""
    return [item.name for item in fields(one) if not _same(getattr(one, item.name), getattr(other, item.name))]


def _same(one: Any, other: Any) -> bool:
    if hasattr(one, "missing") and hasattr(one, "lo"):
        return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in ("lo", "hi", "missing"))
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    if hasattr(one, "cuts") and hasattr(other, "cuts"):
        return np.array_equal(one.cuts, other.cuts) and np.array_equal(one.below, other.below)
    if isinstance(one, Measured) and isinstance(other, Measured):
        return all(_same(getattr(one, item.name), getattr(other, item.name)) for item in fields(one))
    if isinstance(one, np.ndarray):
        return np.array_equal(one, other, equal_nan=True)
    if hasattr(one, "spec"):
        return bool(one.spec() == other.spec())
    return bool(one == other)
