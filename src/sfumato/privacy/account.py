"""The account of a population: its entries, what they come to together, and what its cap still bears."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Literal

from sfumato.errors import BudgetError
from sfumato.privacy.composition import Spend, added, added_rho, least_epsilon
from sfumato.privacy.loss import Approximate, Concentrated, spell_up

SHOWN = 4
"""Digits of a loss that was computed."""
BY_ROW = "a row"
"""What stands for the column that says who is a person where there is none."""
Cap = Approximate | Concentrated


def format_loss(loss: Cap) -> str:
    """A loss in words, each number in as few digits as tell it from its neighbours."""
    if isinstance(loss, Concentrated):
        return f"ρ = {format_number(loss.rho)}"
    return f"ε = {format_number(loss.epsilon)}" + (f", δ = {format_number(loss.delta)}" if loss.delta else "")


def format_number(number: Fraction) -> str:
    """A number as people write it."""
    return repr(float(number)).removesuffix(".0")


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One release and what it cost; `reserved` until the release is known to be in place. Times are in UTC.

    `hides` is the one column that it hides, if the others are published as they are; `person` is what counts as a
    person. Either is empty where that is not known. A `pilot` is there to choose the settings of others by.
    """

    release: str
    data_set: str
    cost: Approximate
    method: str
    folder: str
    state: Literal["reserved", "settled"]
    reserved_at: str
    settled_at: str | None
    neighbours: str = "add-remove"
    rows: str = ""
    hides: str = ""
    person: str = ""
    pilot: int = 0
    concentrated: Concentrated | None = None

    @property
    def weight(self) -> Spend:
        """What it counts for in its account."""
        return weigh(self.cost, self.concentrated, self.neighbours)


@dataclass(frozen=True, kw_only=True)
class Account:
    """Everything about one population; `looked` says how measures of its rows came before somebody's eyes."""

    data_set: str
    entries: tuple[Entry, ...] = ()
    cap: Cap | None = None
    looked: str | None = None

    @cached_property
    def spends(self) -> list[Spend]:
        """What its entries count for, reserved or settled."""
        return [entry.weight for entry in self.entries]

    @cached_property
    def spent(self) -> Approximate:
        """What its entries count for together, added up."""
        return added(self.spends)

    @cached_property
    def rho(self) -> Concentrated | None:
        """What they count for as ρ, if each has one."""
        return added_rho(self.spends)

    @cached_property
    def together(self) -> Approximate:
        """The least ε that they come to, at the δ of the cap, or at the one that theirs add up to."""
        delta = self.cap.delta if isinstance(self.cap, Approximate) and self.cap.delta else self.spent.delta
        epsilon = least_epsilon(self.spends, delta)
        return self.spent if epsilon is None else Approximate(epsilon, delta)

    def pilots(self, *, before: str | None = None) -> tuple[Entry, ...]:
        """The pilots that were bought, all of them or those before the entry of a release."""
        names = [entry.release for entry in self.entries]
        end = names.index(before) if before in names else len(names)
        return tuple(entry for entry in self.entries[:end] if entry.pilot)

    @property
    def reserved(self) -> int:
        """How many entries are not settled."""
        return sum(entry.state == "reserved" for entry in self.entries)

    @property
    def left(self) -> Cap | None:
        """What can still be spent under the cap by adding to what there is; `None` without a cap.

        Where Rényi divergences count, the δ of the cap is part of what they come to, and none is left for others.
        """
        if isinstance(self.cap, Approximate):
            counted_as_sums = self.together.epsilon == self.spent.epsilon
            delta = self.cap.delta - self.spent.delta if counted_as_sums else Fraction(0)
            return Approximate(max(self.cap.epsilon - self.together.epsilon, Fraction(0)), max(delta, Fraction(0)))
        if self.cap is None:
            return None
        spent = self.cap if self.rho is None else self.rho
        return Concentrated(max(self.cap.rho - spent.rho, Fraction(0)))

    def bears(self, *more: Spend) -> bool:
        """Whether the cap, if there is one, covers what was spent and more."""
        if self.cap is None:
            return True
        spends = [*self.spends, *more]
        if isinstance(self.cap, Concentrated):
            total = added_rho(spends)
            return total is not None and self.cap.covers(total)
        epsilon = least_epsilon(spends, self.cap.delta)
        return epsilon is not None and epsilon <= self.cap.epsilon


def weigh(cost: Approximate, concentrated: Concentrated | None, neighbours: str) -> Spend:
    """What a cost counts for in an account: ε of replacing is half as much of adding and removing, ρ a quarter.

    Sums of ε and δ, and of ρ, hold for both together, as exchanging a row is two steps of adding and removing. Orders
    of Rényi divergences are not the same for one step and for two, so what is replaced stands apart.
    """
    if neighbours == "add-remove":
        return Spend(cost, concentrated)
    quarter = concentrated and Concentrated(concentrated.rho / 4)
    return Spend(Approximate(cost.epsilon / 2, cost.delta), quarter, apart=True)


def refuse_other_people(account: Account, hides: str, person: str) -> None:
    """Refuse a release whose loss would not add up with those before: of other people, or of another column."""
    for entry in account.entries:
        if entry.person and person and entry.person != person:
            raise BudgetError(
                f"{account.data_set}: a person is {_whoever(entry.person)} in releases before, and {_whoever(person)} "
                "in this one, so what they cost does not add up; count people alike, or give other people another name"
            )
        if entry.hides and hides and entry.hides != hides:
            raise BudgetError(
                f"{account.data_set}: a release before hides {entry.hides!r}, which this one would publish as it is to "
                f"hide {hides!r}; hide the same column, or use a method that hides who is in the table"
            )


def _whoever(person: str) -> str:
    return person if person == BY_ROW else f"whoever shares {person!r}"


def refuse_beyond_cap(account: Account, asked: Spend) -> None:
    cap, cost, spent = account.cap, asked.cost, account.spent
    if cap is None or account.bears(asked):
        return
    if isinstance(cap, Concentrated):
        if asked.rho is None or account.rho is None:
            what = format_loss(cost) if asked.rho is None else "some of what was spent"
            raise BudgetError(
                f"{account.data_set}: {what} without a ρ does not count under the cap of {format_loss(cap)}; set a cap "
                "of epsilon and delta in its place"
            )
        letter, wanted, used, most = "ρ", asked.rho.rho, account.rho.rho, cap.rho
    elif account.together.epsilon < spent.epsilon:
        raise BudgetError(
            f"{account.data_set}: {format_loss(cost)} is asked for, which comes to more than the cap of "
            f"{format_loss(cap)} with what was spent, ε = {spell_up(account.together.epsilon, SHOWN):g} together"
        )
    elif spent.epsilon + cost.epsilon > cap.epsilon:
        letter, wanted, used, most = "ε", cost.epsilon, spent.epsilon, cap.epsilon
    else:
        letter, wanted, used, most = "δ", cost.delta, spent.delta, cap.delta
    left = max(most - used, Fraction(0))
    raise BudgetError(
        f"{account.data_set}: {letter} = {format_number(wanted)} is asked for, but {format_number(left)} is left of "
        f"the cap of {format_number(most)}, with {format_number(used)} spent"
    )
