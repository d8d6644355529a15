"""Whether a release folder agrees with itself and with a ledger: its claim with what its method promises at the
parameters that it names, what the claim takes for granted with its schema, and all of it with what was charged.

Whoever forges all parts alike is found out by the ledger alone.
"""

from collections.abc import Sequence

from sfumato.errors import SfumatoError, quote
from sfumato.methods import METHODS, make_method
from sfumato.methods.base import UNPUBLISHED, Method, qualify
from sfumato.methods.flows.settings import parse_promise, parse_settings
from sfumato.methods.flows.synthesis import Synthesizer
from sfumato.privacy.account import Entry, format_loss
from sfumato.privacy.claims import Claim, Conditional, Syntactic, choice_of
from sfumato.privacy.claims.differential import FLOWS_FIT
from sfumato.privacy.composition import NOTHING
from sfumato.privacy.ledger import Ledger
from sfumato.privacy.ledger_file import LedgerFile
from sfumato.privacy.loss import Approximate, Pure, exact, spell
from sfumato.privacy.population import population_name
from sfumato.publish.drawn import other_margins, other_noise, other_tables, too_little_noise, too_many_boxes
from sfumato.publish.flows import METHOD as FLOWS
from sfumato.publish.pilots import HIDING, PILOT, cost_of, pilots_behind
from sfumato.publish.publication import BEFOREHAND, LOOKED
from sfumato.release import FlowRelease, Release
from sfumato.release.contradictions import missing_caveats
from sfumato.version import __version__

LOOKS = ("a frontier", "a measurement", "an evaluation", "a map of the original", PILOT)
"""What the program says showed measures of rows."""
NO_METHOD = "is no method of this program, so that nothing says what"


def unsaid_caveats(release: Release | FlowRelease) -> list[str]:
    """What a claim leaves out that follows from how its method uses the schema."""
    claim = release.claim
    if not claim.promises:
        return []
    if isinstance(release, FlowRelease):
        return missing_caveats(claim, (FLOWS_FIT,))
    if release.provenance.method not in METHODS:
        return []
    known = missing_caveats(claim, (*claim.needed, *release.schema.caveats(noise=claim.noise is not None)))
    return [sentence for sentence in missing_caveats(claim, _implied(release)) if sentence not in known]


def contradicts_wording(release: Release | FlowRelease) -> list[str]:
    """What a claim says that this program says in no such claim: a reader could take it for part of the promise."""
    claim = release.claim
    known = {*claim.needed, *_implied(release), BEFOREHAND, *(UNPUBLISHED if claim.noise else (LOOKED,))}
    said = dict.fromkeys(claim.assumptions)
    found = [f"no such claim says {quote(sentence)}" for sentence in said if sentence not in known]
    if len(said) < len(claim.assumptions):
        found.append("the claim says something twice")
    if isinstance(claim, Conditional) and claim.looked not in LOOKS:
        found.append(f"no measures are shown by {quote(claim.looked)}")
    return found


def _implied(release: Release | FlowRelease) -> tuple[str, ...]:
    """What a claim of its kind takes for granted about a release with this schema."""
    bare = release.claim.bare()
    if isinstance(release, FlowRelease):
        return (*bare.assumptions, FLOWS_FIT)
    return qualify(bare.assuming(*_assumed_at_its_setting(release)), release.schema).assumptions


def _assumed_at_its_setting(release: Release) -> tuple[str, ...]:
    """What the method of a release takes for granted at its parameters, beside what every such claim does."""
    try:
        claim = _method(release).claim
    except SfumatoError:
        return ()
    return tuple(sentence for sentence in claim.assumptions if sentence not in claim.needed)


def contradicts_parameters(release: Release | FlowRelease, *, old: bool = False) -> list[str]:
    """How a claim differs from what its method promises at the parameters that the release names.

    Flows of an `old` folder do not name their ε and δ. A claim that is recomputed from the rows may come from anywhere.
    """
    claim, made = release.claim, release.provenance
    if not claim.promises or (not claim.noise and made.method not in METHODS):
        unknown = made.parameters and made.method not in (*METHODS, FLOWS)
        return [f"{made.method!r} {NO_METHOD} its parameters mean"] if unknown else []
    flows = isinstance(release, FlowRelease)
    if made.method != FLOWS if flows else made.method not in METHODS:
        return [f"{made.method!r} {NO_METHOD} the claim rests on"]
    try:
        kept = _claim_of_flows(release, old=old) if flows else make_method(made.method, made.parameters).claim
    except SfumatoError as error:
        return [f"its parameters are not those of its method: {error}"]
    if kept.noise != claim.noise:
        return [f"{made.method} {'adds' if kept.noise else 'adds no'} noise, and the claim says otherwise"]
    if isinstance(release, FlowRelease):
        return _differences(release.provenance.method, kept, claim)
    method = _method(release)
    return [
        *_differences(method.label, kept, claim),
        *too_little_noise(release, method),
        *other_tables(release, method),
        *other_noise(release, method),
        *other_margins(release, method),
        *too_many_boxes(release, method),
    ]


def contradicts_number(release: Release | FlowRelease) -> list[str]:
    """What a release says to have made, if its method is asked for no such thing or for fewer."""
    made = release.provenance.made
    try:
        method = None if isinstance(release, FlowRelease) else _method(release)
        asked = getattr(method, "h", getattr(method, "limit", 0))
    except SfumatoError:
        return []
    return [f"it says that {made[what]:,} {what} were made, of {asked:,}" for what in made if made[what] > asked]


def _claim_of_flows(release: Release | FlowRelease, *, old: bool) -> Claim:
    settings, cost = release.provenance.parameters, release.claim.cost
    if not old or cost is None:
        return parse_settings(settings).claim
    amounts = {"epsilon": float(cost.epsilon), "delta": float(cost.delta)}
    return Synthesizer(promise=parse_promise(settings | amounts)).claim


def _differences(label: str, kept: Claim, claim: Claim) -> list[str]:
    choice = choice_of(claim)
    kept, claim = kept.chosen(choice) if choice else kept, claim.given if isinstance(claim, Conditional) else claim
    spent, claimed = kept.cost or NOTHING, claim.cost or NOTHING
    if claimed != spent or kept.neighbours != claim.neighbours:
        return [
            f"{label} costs {format_loss(spent)} for {kept.neighbours} neighbours, the claim says "
            f"{format_loss(claimed)} for {claim.neighbours} neighbours"
        ]
    if claim.concentrated is not None and claim.concentrated != kept.concentrated:
        costs = "no ρ" if kept.concentrated is None else format_loss(kept.concentrated)
        return [f"{label} costs {costs}, the claim says {format_loss(claim.concentrated)}"]
    if kept.kind != claim.kind:
        return [f"{label} promises {kept.kind}, the claim says {claim.kind}"]
    if not isinstance(kept, Syntactic) or not isinstance(claim, Syntactic):
        return []
    if (set(kept.requirements), kept.buckets) == (set(claim.requirements), claim.buckets):
        return []
    return [f"{label} promises {_spelled(kept)}, the claim says {_spelled(claim)}"]


def _spelled(claim: Syntactic) -> str:
    return f"{', '.join(claim.titles)} of {'buckets' if claim.buckets else 'classes'}"


def label_of(release: Release | FlowRelease) -> str:
    """How the ledger calls the method of a release."""
    made = release.provenance
    return made.method if isinstance(release, FlowRelease) else _method(release).label


def _method(release: Release | FlowRelease) -> Method:
    return make_method(release.provenance.method, release.provenance.parameters)


def contradicts_ledger(release: Release | FlowRelease, entry: Entry, ledger: Ledger) -> list[str]:
    """How a release differs from its entry in a ledger."""
    cost, choice, found = release.claim.cost, choice_of(release.claim), []
    pilots = pilots_behind(choice, entry.data_set, ledger, before=entry.release) if choice else []
    if choice and not pilots:
        found.append(f"the ledger {ledger.path} knows no pilot {choice.pilot}")
    elif choice and pilots and _other_pilots(pilots, choice.epsilon):
        found.append(
            f"the ledger was charged {format_loss(cost_of(pilots))} for {pilots[-1].neighbours} neighbours for "
            f"{'the pilot' if len(pilots) == 1 else f'{len(pilots)} pilots'}, the claim says ε = {choice.epsilon:.12g} "
            f"for {HIDING} neighbours"
        )
    elif (charged := _charged(entry, pilots)) != cost or entry.neighbours != release.claim.neighbours:
        found.append(
            f"the ledger was charged {format_loss(charged)} for {entry.neighbours} neighbours, the claim says "
            f"{format_loss(cost or NOTHING)} for {release.claim.neighbours} neighbours"
        )
    data_set = release.data_set if isinstance(release, FlowRelease) else release.schema.name
    if entry.data_set != population_name(data_set):
        found.append(f"the ledger was charged for {entry.data_set!r}, not for {data_set!r}")
    return [*found, *_unsaid_look(release, entry, ledger), *_other_method(release, entry)]


def _unsaid_look(release: Release | FlowRelease, entry: Entry, ledger: Ledger) -> list[str]:
    """The look at the rows before a release was charged, if its claim is silent about it."""
    claim = release.claim
    if isinstance(claim, Conditional) or BEFOREHAND in claim.assumptions:
        return []
    if not entry.pilot and not choice_of(claim) and ledger.account(entry.data_set).pilots(before=entry.release):
        return ["the ledger knows of a pilot of the same people before, and the claim does not say so"]
    with LedgerFile(ledger.path).reading() as connection:
        look = (
            connection
            and connection.execute(
                "SELECT what FROM looks WHERE (data_set = ? OR rows != '' AND rows = ?) AND at < ? ORDER BY at",
                (entry.data_set, entry.rows, entry.reserved_at),
            ).fetchone()
        )
    if not look:
        return []
    return [
        f"the ledger knows that {look[0]} showed measures of data under its name, or of the same rows, before, and the "
        "claim does not say so"
    ]


def _other_pilots(pilots: Sequence[Entry], epsilon: float) -> bool:
    paid = Approximate(exact(spell(cost_of(pilots).epsilon)), cost_of(pilots).delta)
    return any(pilot.neighbours != HIDING for pilot in pilots) or paid != Pure(exact(epsilon)).approximate()


def _charged(entry: Entry, pilots: Sequence[Entry]) -> Approximate:
    """What was charged for a release and its pilots, as a claim spells it."""
    if not pilots:
        return entry.cost
    both = entry.cost + cost_of(pilots)
    return Approximate(exact(spell(both.epsilon)), both.delta)


def _other_method(release: Release | FlowRelease, entry: Entry) -> list[str]:
    """Another version may have labelled settings otherwise, but no other method has the same title."""
    try:
        label = label_of(release)
        title = label if isinstance(release, FlowRelease) else _method(release).title or release.provenance.method
    except SfumatoError:
        return []
    same = entry.method == label if release.provenance.version == __version__ else entry.method.startswith(title)
    return [] if same or not entry.method else [f"the ledger was charged for {entry.method}, not for {label}"]
