"""`sfumato budget`: what has been spent on which data set, and how much may be."""

import csv
import io
from pathlib import Path
from typing import Any

import typer
from typer import Argument, Option
from typer.core import TyperGroup

from sfumato.cli.options import Json, LedgerFile, output_option, refuse_existing
from sfumato.cli.show import note, print_columns, print_json, say, to_json
from sfumato.errors import ParameterError
from sfumato.files import place
from sfumato.privacy.account import SHOWN, Account, Cap, Entry, format_loss, format_number
from sfumato.privacy.ledger import Ledger
from sfumato.privacy.loss import Concentrated, spell_up
from sfumato.privacy.odds import guess_in_words, replacing
from sfumato.release import Release

EXAMPLE = "sfumato budget"
CAP_EXAMPLE = "sfumato budget cap people --epsilon 3"
EXPORT_EXAMPLE = "sfumato budget export -o spent.csv"


class DataSetOrCommand(TyperGroup):
    """A group that takes a word which is none of its commands for the name of a data set."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] in self.commands:
            return super().parse_args(ctx, ["", *args])
        ctx.allow_interspersed_args = True
        return super().parse_args(ctx, args)

    def get_params(self, ctx: Any) -> list[Any]:
        """Its parameters; to one of its commands, none of them is part of the way there."""
        return super().get_params(ctx) if ctx.command is self else []


def command(
    context: typer.Context,
    data_set: str = Argument("", metavar="DATASET", help="Show the entries of this data set."),
    ledger_file: LedgerFile = None,
    as_json: Json = False,
) -> None:
    """See what has been spent on which data set.

    A data set is known by the name that its schema declares. Publishing by a differentially private method reserves
    what it costs and settles it when the release is in place; what a crash left reserved still counts.
    """
    if context.invoked_subcommand is not None:
        return
    ledger = Ledger(ledger_file)
    known = {account.data_set: account for account in ledger.accounts()}
    if data_set and data_set not in known:
        there = ", ".join(known) or "no data set yet"
        raise ParameterError(f"{data_set!r} is not in the ledger {ledger.path}; it knows {there}")
    accounts = [known[data_set]] if data_set else list(known.values())
    if as_json:
        print_json(_document(accounts, ledger))
    elif not accounts:
        say(f"Nothing has been spent, and no cap is set. Ledger: {ledger.path}")
    else:
        if data_set:
            _show_entries(accounts[0])
        else:
            _show_accounts(accounts)
        if reserved := sum(account.reserved for account in accounts):
            say(f"{reserved} reserved and not settled: what was cut short, or is under way, counts all the same.")
        say(f"Ledger: {ledger.path}")


def cap(
    data_set: str = Argument(metavar="DATASET", help="The name that the schema declares."),
    epsilon: float | None = Option(None, help="The most that may be spent in all."),
    delta: float | None = Option(None, help="The most delta in all; none by default."),
    rho: float | None = Option(None, help="The most in concentrated differential privacy, in place of epsilon."),
    none: bool = Option(False, "--none", help="Remove the cap."),
    ledger_file: LedgerFile = None,
    as_json: Json = False,
) -> None:
    """Set how much may be spent on a data set in all, or remove the cap.

    Below what is spent already, nothing more can be spent. With a delta, releases count by their Rényi divergences
    where that is less than adding up their epsilon and delta. A cap of rho holds even if what a release costs is chosen
    after seeing those before.
    """
    ledger = Ledger(ledger_file)
    if none and (epsilon is not None or delta is not None or rho is not None):
        raise ParameterError("--none removes the cap; give it without --epsilon, --delta and --rho")
    if none:
        ledger.uncap(data_set)
    elif epsilon is None and rho is None:
        raise ParameterError("a cap needs --epsilon, such as --epsilon 3, or --rho, or --none to remove it")
    else:
        ledger.cap(data_set, epsilon or 0, delta or 0, rho=rho)
    account = ledger.account(data_set)
    if as_json:
        print_json({"ledger": str(ledger.path), **_figures(account)})
    else:
        say(f"{_standing(account)} Ledger: {ledger.path}")


def export(
    output: Path | None = output_option(
        "FILE", "A new file, as JSON if its name ends so; without it, standard output.", default=None
    ),
    ledger_file: LedgerFile = None,
    as_json: Json = False,
) -> None:
    """Write all entries as CSV, or as JSON with the caps."""
    ledger = Ledger(ledger_file)
    accounts = ledger.accounts()
    wants_json = as_json or (output is not None and output.suffix == ".json")
    text = f"{to_json(_document(accounts, ledger))}\n" if wants_json else _csv(accounts)
    if output is None:
        print(text, end="")
    else:
        refuse_existing(output)
        place(output, text)
        say(f"{sum(len(account.entries) for account in accounts)} entries are in {output}.")


def charge(release: Release, ledger: Ledger) -> dict[str, Any] | None:
    """What a release cost and where that leaves its data set; nothing if it cost nothing."""
    if release.provenance.id is None:
        return None
    entry = ledger.entry(release.provenance.id)
    account = ledger.account(entry.data_set)
    return {
        "id": entry.release,
        "data_set": entry.data_set,
        **_amounts(entry.cost),
        **_limits(account),
        "ledger": str(ledger.path),
        "sentence": f"Charged: {format_loss(entry.cost)}. {_standing(account)}",
    }


def show_charge(charged: dict[str, Any] | None) -> None:
    """Say what a release cost, and what is left."""
    if charged is None:
        return
    say(charged["sentence"])
    say(f"Ledger: {charged['ledger']}")


def warn_of_other_names(ledger: Ledger, data_set: str, rows: str) -> None:
    """Say under which other names the same rows were published."""
    for other in ledger.other_names(data_set, rows):
        note(f"The same rows were published as {other!r} before; people have one account, so use one name for them.")


def _standing(account: Account) -> str:
    """Where a data set stands, in a sentence."""
    spent = f"{account.data_set}: {format_loss(account.spent)} spent in all{_counted(account)}"
    if account.cap is None or account.left is None:
        return f"{spent}, without a cap."
    if isinstance(account.cap, Concentrated) and account.rho is None:
        cap = format_loss(account.cap)
        return f"{spent}, some of it without a ρ, so that nothing more can be spent under the cap of {cap}."
    if not account.bears():
        return f"{spent}, more than the cap of {format_loss(account.cap)}; nothing more can be spent."
    return f"{spent}, {format_loss(account.left)} left of the cap of {format_loss(account.cap)}."


def _counted(account: Account) -> str:
    """What the sum of ε and δ comes to when it is counted in other ways, where that tells something."""
    found = [f"{_rounded(account.together)} together"] if account.together.epsilon < account.spent.epsilon else []
    if account.rho is not None and (account.spent.delta or isinstance(account.cap, Concentrated)):
        found.append(_rounded(account.rho))
    return f" ({', '.join(found)})" if found else ""


def _rounded(loss: Cap) -> str:
    """A computed loss in a few digits, rounded up."""
    if isinstance(loss, Concentrated):
        return f"ρ = {spell_up(loss.rho, SHOWN):g}" if loss.rho else "ρ = 0"
    return f"ε = {spell_up(loss.epsilon, SHOWN):g} at δ = {float(loss.delta):g}"


def _in_words(account: Account) -> str:
    """What all releases of an account together can give away, at most."""
    if not account.spent.epsilon:
        return ""
    if len({entry.hides for entry in account.entries if entry.neighbours != "add-remove"}) > 1:
        return (
            "All together: nothing is known, as one release may publish as it is what another hides; an older version "
            "of the program did not note what flows hide."
        )
    spent, values = account.together, replacing(account.together)
    told = guess_in_words(values, "which of two values is somebody's")
    if all(entry.neighbours == "add-remove" for entry in account.entries):
        told = f"{guess_in_words(spent, 'whether somebody is in the table')}; {told[0].lower()}{told[1:]}"
    return f"All together: {told[0].lower()}{told[1:]}."


def _show_accounts(accounts: list[Account]) -> None:
    print_columns(
        ("data set", "added up", "together", "ρ", "cap", "left", "entries", "reserved"),
        [
            (
                account.data_set,
                format_loss(account.spent),
                _rounded(account.together) if account.together.epsilon < account.spent.epsilon else "the same",
                _rounded(account.rho).removeprefix("ρ = ") if account.rho else "none",
                format_loss(account.cap) if account.cap else "none",
                format_loss(account.left) if account.left else "no limit",
                str(len(account.entries)),
                f"{account.reserved} not settled" if account.reserved else "",
            )
            for account in accounts
        ],
    )
    for account in accounts:
        if told := _in_words(account):
            say(f"{account.data_set}: {told}")


def _show_entries(account: Account) -> None:
    say(_standing(account))
    if told := _in_words(account):
        say(told)
    if account.entries:
        print_columns(
            ("reserved at", "state", "cost", "method", "release", "folder"),
            [
                (entry.reserved_at, entry.state, format_loss(entry.cost), entry.method, entry.release, entry.folder)
                for entry in account.entries
            ],
        )


def _amounts(loss: Cap) -> dict[str, float]:
    if isinstance(loss, Concentrated):
        return {"rho": float(loss.rho)}
    return {"epsilon": float(loss.epsilon), "delta": float(loss.delta)}


def _limits(account: Account) -> dict[str, Any]:
    """What has been spent in all and what may be; null where there is no cap."""
    return {
        "spent": _amounts(account.spent),
        "together": _amounts(account.together),
        "rho": account.rho and float(account.rho.rho),
        "cap": account.cap and _amounts(account.cap),
        "left": account.left and _amounts(account.left),
    }


def _document(accounts: list[Account], ledger: Ledger) -> dict[str, Any]:
    return {"ledger": str(ledger.path), "data_sets": [_figures(account) for account in accounts]}


def _figures(account: Account) -> dict[str, Any]:
    return {
        "data_set": account.data_set,
        **_limits(account),
        "in_words": _in_words(account),
        "reserved": account.reserved,
        "entries": [_plain(entry) for entry in account.entries],
    }


def _plain(entry: Entry) -> dict[str, Any]:
    return {
        "release": entry.release,
        "state": entry.state,
        **_amounts(entry.cost),
        "rho": entry.concentrated and float(entry.concentrated.rho),
        "method": entry.method,
        "folder": entry.folder,
        "reserved_at": entry.reserved_at,
        "settled_at": entry.settled_at,
    }


def _csv(accounts: list[Account]) -> str:
    text = io.StringIO()
    names = ("data_set", "release", "state", "epsilon", "delta", "rho", "method", "folder", "reserved_at", "settled_at")
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    for entry in (entry for account in accounts for entry in account.entries):
        cost = {"epsilon": format_number(entry.cost.epsilon), "delta": format_number(entry.cost.delta)}
        writer.writerow({"data_set": entry.data_set, **_plain(entry), **cost})
    return text.getvalue()
