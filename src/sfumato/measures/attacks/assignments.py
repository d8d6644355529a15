"""Who in a bucket has which of its sensitive values: the distribution over all assignments, and its marginals.

An assignment gives every member one of the published values, each value as often as it is published, and weighs
Π likelihood(member, value). Where the numbers of values given out so far can take few states, the marginals are
summed up exactly over these states; elsewhere the likelihoods are balanced to the published counts.
"""

import numpy as np
from numpy.typing import NDArray

from sfumato.compiled import compiled

Matrix = NDArray[np.float64]

MAX_STATES = 1024
"""Up to so many states a bucket is summed up exactly: any of 10 people, or more where values repeat."""
MAX_BALANCING = 100
MAX_OFF = 1e-4
"""Balancing ends when every published count is met up to this many people."""
CONDITIONING = 3
"""Scaling rows and columns leaves the distribution over assignments as it is, but keeps its sums in range."""
LEAST = 1e-200


@compiled
def balance(likelihood: Matrix, people: NDArray[np.int64], counts: NDArray[np.int64], rounds: int) -> Matrix:
    """Scale rows (members) and columns (values) until each person has one value and each value its count."""
    found = likelihood.copy()
    for _ in range(rounds):
        off = 0.0
        for value in range(len(counts)):
            given = 0.0
            for member in range(len(people)):
                given += people[member] * found[member, value]
            off = max(off, abs(given - counts[value]))
            found[:, value] *= counts[value] / given
        for member in range(len(people)):
            found[member] /= found[member].sum()
        if off < MAX_OFF:
            break
    return found


@compiled
def count_states(counts: NDArray[np.int64]) -> float:
    """In how many ways some of the values can have been given out: Π (count + 1)."""
    states = 1.0
    for count in counts:
        states *= count + 1
    return states


@compiled
def _given_out(counts: NDArray[np.int64], states: int) -> NDArray[np.int64]:
    """How many of each value each state has given out: (states, values)."""
    given = np.empty((states, len(counts)), np.int64)
    for state in range(states):
        rest = state
        for value in range(len(counts)):
            given[state, value] = rest % (counts[value] + 1)
            rest //= counts[value] + 1
    return given


@compiled
def sum_up(likelihood: Matrix, people: NDArray[np.int64], counts: NDArray[np.int64]) -> Matrix:
    """The exact share of each value in the assignments, for each member: people take their values one by one.

    before[state] sums over all ways to come to a state, after[state] over all ways to go on from it; a person's
    step from one state to the next weighs before · likelihood · after.
    """
    values, states = len(counts), int(count_states(counts))
    stride = np.ones(values, np.int64)
    for value in range(1, values):
        stride[value] = stride[value - 1] * (counts[value - 1] + 1)
    given = _given_out(counts, states)
    turn = given.sum(axis=1)
    member_of = np.repeat(np.arange(len(people)), people)
    order = np.argsort(turn, kind="mergesort")
    starts = np.searchsorted(turn[order], np.arange(len(member_of) + 2))
    before, after = np.zeros(states), np.zeros(states)
    before[0] = after[-1] = 1.0
    for person in range(len(member_of)):
        now, following = order[starts[person] : starts[person + 1]], order[starts[person + 1] : starts[person + 2]]
        for state in now:
            for value in range(values):
                if given[state, value] < counts[value]:
                    before[state + stride[value]] += before[state] * likelihood[member_of[person], value]
        before[following] /= before[following].max()
    found = np.zeros_like(likelihood)
    step = np.empty(values)
    for person in range(len(member_of) - 1, -1, -1):
        now, member = order[starts[person] : starts[person + 1]], member_of[person]
        step[:] = 0
        for state in now:
            for value in range(values):
                if given[state, value] < counts[value]:
                    on = likelihood[member, value] * after[state + stride[value]]
                    after[state] += on
                    step[value] += before[state] * on
        after[now] /= after[now].max()
        found[member] += step / step.sum() / people[member]
    return found


@compiled
def marginals(
    log_likelihood: Matrix,
    people: NDArray[np.int64],
    order: NDArray[np.int64],
    starts: NDArray[np.int64],
    counts: NDArray[np.int64],
    max_states: int,
) -> Matrix:
    """The marginals of the assignments in every bucket; the members of bucket i are `order[starts[i]:starts[i + 1]]`.

    The log likelihoods and what is returned are (members, values), the counts (buckets, values).
    """
    found = np.zeros_like(log_likelihood)
    for bucket in range(len(counts)):
        members = order[starts[bucket] : starts[bucket + 1]]
        values = np.flatnonzero(counts[bucket])
        likelihood = np.empty((len(members), len(values)))
        for row, member in enumerate(members):
            for column, value in enumerate(values):
                likelihood[row, column] = log_likelihood[member, value]
            likelihood[row] = np.maximum(np.exp(likelihood[row] - likelihood[row].max()), LEAST)
        here, wanted = people[members], counts[bucket][values]
        exact = count_states(wanted) <= max_states
        shares = balance(likelihood, here, wanted, CONDITIONING if exact else MAX_BALANCING)
        if exact:
            shares = sum_up(shares, here, wanted)
        for row, member in enumerate(members):
            for column, value in enumerate(values):
                found[member, value] = shares[row, column]
    return found
