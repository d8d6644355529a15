"""Synthetic flows on their way to a folder: planned, reserved, drawn, written, settled.

Nothing in the folder is computed on the real flows but the draw itself; the rest follows from what is public.
"""

from dataclasses import replace
from pathlib import Path

from sfumato.data.flows import Flows
from sfumato.data.formats import require_format
from sfumato.mechanisms.noise import SystemSource
from sfumato.methods.flows.plan import Progress
from sfumato.methods.flows.synthesis import Synthesis, Synthesizer
from sfumato.privacy.account import BY_ROW
from sfumato.privacy.ledger import Ledger
from sfumato.publish.publication import Publication
from sfumato.release import FlowRelease, Provenance

METHOD = "commute"


def publish_flows(
    synthesizer: Synthesizer,
    flows: Flows,
    folder: Path | str,
    *,
    data_set: str,
    ledger: Ledger | None = None,
    parquet: bool = False,
    suffix: str = ".csv",
    beforehand: bool = False,
    planning: Progress | None = None,
    drawing: Progress | None = None,
) -> tuple[Synthesis, str]:
    """Draw synthetic flows with fresh randomness into a new folder; the name under which they are charged.

    `data_set` is the account of these people, one for all files about them. If measures of the flows were seen before,
    the claim says that choosing the setting is not covered, unless that was done `beforehand`. What is hidden is the
    column of origins alone, and everybody who was counted is a person: releases of the same account must do alike.

    >>> synthesizer = sf.commute.Synthesizer(promise=sf.commute.Promise(epsilon=4.6, delta=1e-3))
    >>> made, name = sf.commute.publish_flows(synthesizer, flows, "release", data_set="example")
    """
    suffix = ".parquet" if parquet else suffix
    require_format(Path(f"flows{suffix}"))
    ledger = ledger or Ledger()
    publication = Publication(
        claim=synthesizer.claim,
        data_set=data_set,
        method=METHOD,
        folder=folder,
        ledger=ledger,
        rows=flows.digest,
        hides=flows.origin,
        person=BY_ROW,
        looked=ledger.looked(data_set, flows.digest) or flows.looked,
        beforehand=beforehand,
    )
    publication.check()
    prepared = synthesizer.prepare(flows, planning)
    with publication:
        synthesis = prepared.draw(SystemSource(), drawing)
        release = FlowRelease(
            source=synthesis.flows.frame(),
            claim=synthesis.claim,
            provenance=Provenance(method=METHOD, parameters=synthesizer.spec()),
            from_data=synthesis.plan.from_data,
            terms=synthesis.terms,
            data_set=data_set,
        )
        signed = publication.sign(release)
        publication.write(signed, suffix=suffix)
    assert publication.id
    return replace(synthesis, claim=signed.claim), publication.id
