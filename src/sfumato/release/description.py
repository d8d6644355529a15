"""What `release.json` says: everything about a release but its data, and nothing computed on the real data."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np

from sfumato.errors import ReleaseError, SfumatoError
from sfumato.mechanisms.channels import Channel, parse_channel
from sfumato.privacy.claims import Claim, parse_claim
from sfumato.release.release import Layout, Provenance
from sfumato.schema import Schema

FORMAT = 1
DESCRIPTION = "release.json"
COMMUTE_DESCRIPTION = "commute.json"
"""What a folder of synthetic flows has instead."""
TABLES: dict[Layout, tuple[str, ...]] = {"rows": ("data",), "buckets": ("quasi", "sensitive"), "counts": ("counts",)}
COLUMNS: dict[Layout, tuple[str, ...]] = {"rows": (), "buckets": ("bucket", "count"), "counts": ("count", "noise")}
"""Columns of the tables that are not the schema's."""
_KEYS = {
    "version": str,
    "method": str,
    "parameters": dict,
    "claim": dict,
    "layout": str,
    "files": dict,
    "columns": dict,
    "schema": dict,
}


@dataclass(frozen=True, kw_only=True)
class Description:
    """What `release.json` says: everything about a release but its data.

    `files` names the file of each table; `columns` names the columns that are not the schema's.
    """

    schema: Schema
    claim: Claim
    provenance: Provenance
    layout: Layout
    files: dict[str, str]
    columns: dict[str, str]
    channel: Channel | None = None
    exact_people: bool = False

    def text(self) -> str:
        """The contents of the file."""
        spec = {
            "format": FORMAT,
            **({} if self.provenance.id is None else {"id": self.provenance.id}),
            "version": self.provenance.version,
            "method": self.provenance.method,
            "parameters": self.provenance.parameters,
            "claim": self.claim.spec(),
            "layout": self.layout,
            "files": self.files,
            "columns": self.columns,
            **({} if self.channel is None else {"channel": self.channel.spec()}),
            **({"exact_people": True} if self.exact_people else {}),
            "schema": self.schema.spec(),
        }
        return json.dumps(_plain(spec), indent=2, ensure_ascii=False, allow_nan=False) + "\n"

    @staticmethod
    def read(folder: Path) -> Description:
        """The description in a release folder."""
        path = folder / DESCRIPTION
        if not folder.is_dir():
            raise ReleaseError(f"{folder}: there is no such release folder")
        try:
            return Description.parse(json.loads(path.read_text(encoding="utf-8-sig")))
        except FileNotFoundError as error:
            raise ReleaseError(f"{path}: there is no such file; expected a release folder") from error
        except (OSError, UnicodeDecodeError) as error:
            raise ReleaseError(f"{path}: the file cannot be read as UTF-8 text") from error
        except (ValueError, RecursionError) as error:
            raise ReleaseError(f"{path}: not valid JSON, {error}") from error
        except SfumatoError as error:
            raise ReleaseError(f"{path}: {error}") from error

    @staticmethod
    def parse(spec: object) -> Description:
        """The description that decoded JSON spells."""
        if not isinstance(spec, dict):
            raise ReleaseError(f"found a {type(spec).__name__}; expected an object with claim and schema")
        if type(spec.get("format")) is not int or spec["format"] != FORMAT:
            raise ReleaseError(f"format is {spec.get('format')!r}; this version reads format {FORMAT}")
        for key, kind in _KEYS.items():
            if not isinstance(spec.get(key), kind):
                found = f"is a {type(spec[key]).__name__}" if key in spec else "is missing"
                raise ReleaseError(f"{key} {found}; expected {'a word' if kind is str else 'an object'}")
        if not isinstance(spec.get("id", ""), str):
            raise ReleaseError(f"id is a {type(spec['id']).__name__}; expected a word")
        if spec["layout"] not in TABLES:
            raise ReleaseError(f"layout is {spec['layout']!r}; expected {' or '.join(TABLES)}")
        layout = cast(Layout, spec["layout"])
        schema = Schema.parse(spec["schema"])
        names = [*(column.name for column in schema.columns), *map(str, spec["columns"].values())]
        if len(set(names)) < len(names):
            raise ReleaseError("two columns have the same name")
        return Description(
            schema=schema,
            claim=_claim(spec["claim"]),
            provenance=Provenance(
                method=spec["method"], parameters=spec["parameters"], version=spec["version"], id=spec.get("id")
            ),
            layout=layout,
            files={table: _word(spec["files"], table, "files") for table in TABLES[layout]},
            columns={column: _word(spec["columns"], column, "columns") for column in COLUMNS[layout]},
            channel=parse_channel(spec["channel"]) if "channel" in spec else None,
            exact_people=spec.get("exact_people") is True,
        )


def refuse_inside_release(folder: Path) -> None:
    """What is computed on the real data must not land beside what is published."""
    for place in (folder.resolve(), *folder.resolve().parents):
        if any((place / name).exists() for name in (DESCRIPTION, COMMUTE_DESCRIPTION)):
            raise ReleaseError(
                f"{folder}: this lies in the release {place}; measures and reports are for the publisher's eyes only"
            )


def _claim(spec: dict[str, object]) -> Claim:
    try:
        return parse_claim(spec)
    except (ValueError, TypeError, AttributeError) as error:
        raise ReleaseError("the claim cannot be understood") from error


def _word(spec: dict[str, object], key: str, where: str) -> str:
    value = spec.get(key)
    if not isinstance(value, str) or not value or (where == "files" and Path(value).name != value):
        raise ReleaseError(f"{key} in {where} is {value!r}; expected a name")
    return value


def _plain(value: Any) -> Any:
    """The value in JSON's own types."""
    if isinstance(value, np.generic | np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, set | frozenset):
        return sorted((_plain(item) for item in value), key=str)
    if hasattr(value, "spec"):
        return _plain(value.spec())
    raise ReleaseError(f"a parameter of type {type(value).__name__} cannot be written to {DESCRIPTION}")
