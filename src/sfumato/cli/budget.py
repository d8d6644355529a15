"""`sfumato budget`: what has been spent on which data set, and how much may be."""

import csv
import io
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from sfumato.cli.options import Json, LedgerFile
from sfumato.cli.show import columns, note, print_json, say, to_json
from sfumato.errors import ParameterError
from sfumato.files import place
from sfumato.privacy.ledger import Account, Entry, Ledger, format_loss, format_number
from sfumato.privacy.loss import Approximate
from sfumato.release import Release
from sfumato.schema import Schema

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
    data_set: Annotated[str, typer.Argument(metavar="DATASET", help="Show the entries of this data set.")] = "",
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
    accounts = ledger.accounts()
    if data_set:
        accounts = [_find(data_set, accounts, ledger)]
    if as_json:
        print_json({"ledger": str(ledger.path), "data_sets": [_figures(account) for account in accounts]})
    elif data_set:
        _show_entries(accounts[0], ledger)
    else:
        _show_accounts(accounts, ledger)


def cap(
    data_set: Annotated[str, typer.Argument(metavar="DATASET", help="The name that the schema declares.")],
    epsilon: Annotated[float | None, typer.Option("--epsilon", help="The most that may be spent in all.")] = None,
    delta: Annotated[float | None, typer.Option("--delta", help="The most delta in all; none by default.")] = None,
    none: Annotated[bool, typer.Option("--none", help="Remove the cap.")] = False,
    ledger_file: LedgerFile = None,
    as_json: Json = False,
) -> None:
    """Set how much may be spent on a data set in all, or remove the cap.

    Below what is spent already, nothing more can be spent.
    """
    ledger = Ledger(ledger_file)
    if none and (epsilon is not None or delta is not None):
        raise ParameterError("--none removes the cap; give it without --epsilon and --delta")
    if none:
        ledger.uncap(data_set)
    elif epsilon is None:
        raise ParameterError("a cap needs --epsilon, such as --epsilon 3, or --none to remove it")
    else:
        ledger.cap(data_set, epsilon, delta or 0)
    account = ledger.account(data_set)
    if as_json:
        print_json({"ledger": str(ledger.path), **_figures(account)})
    else:
        say(f"{_standing(account)} Ledger: {ledger.path}")


def export(
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="A new file, as JSON if its name ends so; without it, standard output.",
        ),
    ] = None,
    ledger_file: LedgerFile = None,
    as_json: Json = False,
) -> None:
    """Write all entries as CSV, or as JSON with the caps."""
    ledger = Ledger(ledger_file)
    accounts = ledger.accounts()
    whole = {"ledger": str(ledger.path), "data_sets": [_figures(account) for account in accounts]}
    wants_json = as_json or (output is not None and output.suffix == ".json")
    text = f"{to_json(whole)}\n" if wants_json else _csv(accounts)
    if output is None:
        print(text, end="")
    elif output.exists():
        raise ParameterError(f"{output}: this already exists; choose a new file, or remove it first")
    else:
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
        "sentence": f"Charged: {_words(entry.cost, '')}. {_standing(account)}",
    }


def show_charge(charged: dict[str, Any] | None) -> None:
    """Say what a release cost, and what is left."""
    if charged is None:
        return
    say(charged["sentence"])
    say(f"Ledger: {charged['ledger']}")
    if charged["data_set"] == Schema.name:
        note(f"The schema declares no name, so all tables without one share the budget of {Schema.name!r}.")


def _find(data_set: str, accounts: list[Account], ledger: Ledger) -> Account:
    for account in accounts:
        if account.data_set == data_set:
            return account
    known = ", ".join(account.data_set for account in accounts) or "no data set yet"
    raise ParameterError(f"{data_set!r} is not in the ledger {ledger.path}; it knows {known}")


def _standing(account: Account) -> str:
    """Where a data set stands, in a sentence."""
    spent = f"{account.data_set}: {format_loss(account.spent)} spent in all"
    if account.cap is None or account.left is None:
        return f"{spent}, without a cap."
    if not account.cap.covers(account.spent):
        return f"{spent}, more than the cap of {format_loss(account.cap)}; nothing more can be spent."
    return f"{spent}, {format_loss(account.left)} left of the cap of {format_loss(account.cap)}."


def _show_accounts(accounts: list[Account], ledger: Ledger) -> None:
    if not accounts:
        say(f"Nothing has been spent, and no cap is set. Ledger: {ledger.path}")
        return
    columns(
        ("data set", "spent", "cap", "left", "entries", "reserved"),
        [
            (
                account.data_set,
                _words(account.spent, ""),
                _words(account.cap, "none"),
                _words(account.left, "no limit"),
                str(len(account.entries)),
                f"{account.reserved} not settled" if account.reserved else "",
            )
            for account in accounts
        ],
    )
    _show_reserved(sum(account.reserved for account in accounts), ledger)


def _show_entries(account: Account, ledger: Ledger) -> None:
    say(_standing(account))
    if account.entries:
        columns(
            ("reserved at", "state", "cost", "method", "release", "folder"),
            [
                (entry.reserved_at, entry.state, _words(entry.cost, ""), entry.method, entry.release, entry.folder)
                for entry in account.entries
            ],
        )
    _show_reserved(account.reserved, ledger)


def _show_reserved(count: int, ledger: Ledger) -> None:
    if count:
        say(f"{count} reserved and not settled: what was cut short, or is under way, counts all the same.")
    say(f"Ledger: {ledger.path}")


def _words(loss: Approximate | None, otherwise: str) -> str:
    return otherwise if loss is None else format_loss(loss)


def _amounts(loss: Approximate) -> dict[str, float]:
    return {"epsilon": float(loss.epsilon), "delta": float(loss.delta)}


def _limits(account: Account) -> dict[str, Any]:
    """What has been spent in all and what may be; null where there is no cap."""
    return {
        "spent": _amounts(account.spent),
        "cap": account.cap and _amounts(account.cap),
        "left": account.left and _amounts(account.left),
    }


def _figures(account: Account) -> dict[str, Any]:
    return {
        "data_set": account.data_set,
        **_limits(account),
        "reserved": account.reserved,
        "entries": [_plain(entry) for entry in account.entries],
    }


def _plain(entry: Entry) -> dict[str, Any]:
    return {
        "release": entry.release,
        "state": entry.state,
        **_amounts(entry.cost),
        "method": entry.method,
        "folder": entry.folder,
        "reserved_at": entry.reserved_at,
        "settled_at": entry.settled_at,
    }


def _csv(accounts: list[Account]) -> str:
    text = io.StringIO()
    names = ("data_set", "release", "state", "epsilon", "delta", "method", "folder", "reserved_at", "settled_at")
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    for account in accounts:
        for entry in account.entries:
            cost = {"epsilon": format_number(entry.cost.epsilon), "delta": format_number(entry.cost.delta)}
            writer.writerow({"data_set": entry.data_set, **_plain(entry), **cost})
    return text.getvalue()
