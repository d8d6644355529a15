"""Synthetic flows in a folder: `flows.csv`, and `commute.json` with the claim and how it came about.

What a synthesis costs is reserved in the ledger before anything is drawn, and settled when the folder is in place.
Nothing in the folder is computed on the real flows but the draw itself; the rest follows from what is public.
"""

from __future__ import annotations

import json
import os
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sfumato.data.flows import Flows
from sfumato.data.formats import write_table
from sfumato.data.places import OUTSIDE, Places
from sfumato.errors import ReleaseError, SfumatoError
from sfumato.files import new_folder, refuse_unwritable
from sfumato.mechanisms.noise import SystemSource
from sfumato.methods.flows.domain import EVERYWHERE
from sfumato.methods.flows.synthesis import Progress, Synthesis, Synthesizer
from sfumato.privacy.claims import Claim, Differential, parse_claim
from sfumato.privacy.ledger import Ledger
from sfumato.publish.publication import SPENT, adding
from sfumato.release.description import COMMUTE_DESCRIPTION as DESCRIPTION
from sfumato.version import __version__

FORMAT = 1


@dataclass(frozen=True, kw_only=True)
class Published:
    """Published flows as a recipient reads them."""

    flows: Flows
    claim: Claim
    settings: dict[str, Any]
    from_data: float
    """The share of people expected to be drawn from the data."""
    reach: float = EVERYWHERE
    """Up to how many kilometres the flows tell where people come from."""


def publish_flows(
    synthesizer: Synthesizer,
    flows: Flows,
    folder: Path | str,
    *,
    data_set: str,
    ledger: Ledger | None = None,
    parquet: bool = False,
    planning: Progress | None = None,
    drawing: Progress | None = None,
) -> tuple[Synthesis, str]:
    """Draw synthetic flows with fresh randomness into a new folder; the name under which they are charged.

    >>> synthesizer = sf.commute.Synthesizer(promise=sf.commute.Promise(epsilon=4.6, delta=1e-3))
    >>> made, name = sf.commute.publish_flows(synthesizer, flows, "release", data_set="example")
    """
    target, book, name = Path(folder), ledger or Ledger(), str(uuid.uuid4())
    refuse_unwritable(target)
    claim = synthesizer.claim
    assert isinstance(claim, Differential)
    book.check(data_set, claim.epsilon, claim.delta)
    prepared = synthesizer.prepare(flows, planning)
    book.reserve(
        data_set=data_set,
        release=name,
        epsilon=claim.epsilon,
        delta=claim.delta,
        method="commute",
        folder=os.path.abspath(target),
    )
    with adding(SPENT):
        synthesis = prepared.draw(SystemSource(), drawing)
        table = f"flows.{'parquet' if parquet else 'csv'}"
        description = {
            "format": FORMAT,
            "id": name,
            "version": __version__,
            "data_set": data_set,
            "about": "synthetic flows: how many people go to each destination is exact, where they come from is drawn",
            "promise": synthesis.claim.sentence(),
            "claim": synthesis.claim.spec(),
            "epsilon_made_of": synthesis.terms,
            "drawn_from_data": synthesis.plan.from_data,
            "settings": synthesizer.spec(),
            "file": table,
        }
        with new_folder(target) as unfinished:
            write_table(synthesis.flows.frame(), unfinished / table)
            text = json.dumps(description, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
            (unfinished / DESCRIPTION).write_text(text, encoding="utf-8")
    with adding("the release is in place, and stays reserved in the ledger"):
        book.settle(name)
    return synthesis, name


def read_published(folder: Path | str, places: Places) -> Published:
    """Read a folder of synthetic flows."""
    path = Path(folder) / DESCRIPTION
    try:
        spec = json.loads(path.read_text(encoding="utf-8-sig"))
        if type(spec["format"]) is not int or spec["format"] != FORMAT:
            raise ReleaseError(f"format {spec['format']!r} is not known to this version; expected {FORMAT}")
        name, claim, settings = str(spec["file"]), parse_claim(spec["claim"]), dict(spec["settings"])
        from_data = float(spec["drawn_from_data"])
        reach = float(settings["radius_km"]) if settings.get("beyond") == OUTSIDE else EVERYWHERE
        if not name or Path(name).name != name:
            raise ReleaseError(f"the file {name!r} lies outside the folder")
    except FileNotFoundError as error:
        raise ReleaseError(f"{path}: there is no such file; expected a folder of synthetic flows") from error
    except (OSError, UnicodeDecodeError) as error:
        raise ReleaseError(f"{path}: the file cannot be read as UTF-8 text") from error
    except (ValueError, RecursionError, KeyError, TypeError) as error:
        raise ReleaseError(f"{path}: this is no description of synthetic flows ({error!r})") from error
    except SfumatoError as error:
        raise ReleaseError(f"{path}: {error}") from error
    flows = Flows.read(path.with_name(name), places)
    return Published(flows=flows, claim=claim, settings=settings, from_data=from_data, reach=reach)
