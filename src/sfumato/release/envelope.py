"""`release.json`: what every release folder says about itself, whatever kind of data lies in it.

But for how many values were replaced, nothing in it is computed on the real data. Where it names no kind, the folder
holds a table. Folders of flows used to be described by `commute.json`; these are read as if they were written today.
"""

import json
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Self, TypeVar, cast, get_args

import numpy as np

from sfumato.errors import ReleaseError, SfumatoError
from sfumato.privacy.claims import Claim, parse_claim
from sfumato.version import __version__

FORMAT = 1
MOVING = ("rank-swapping", "noise", "pram")
"""Methods that change the quasi-identifiers of people, so that nobody need stand where they are said to."""
MEAN = "mean"
"""The recoding that publishes means of classes."""
DESCRIPTION = "release.json"
CODEBOOK = "codebook.md"
"""What its columns mean, for people; folders of earlier versions have none."""
OLD_FLOWS = "commute.json"
Kind = Literal["table", "flows"]
PARTS: dict[Kind, tuple[str, ...]] = {
    "table": ("layout", "columns", "channel", "exact_people", "schema"),
    "flows": ("data_set", "about", "promise", "epsilon_made_of", "drawn_from_data"),
}
"""What the description of a kind may hold besides the envelope."""
OLD_PARTS = ("settings", "file")
COUNTED = ("specializations", "level vectors")
"""What a method may say to have made or tried so many of; where noise is claimed, noisy counts decided it."""
_SHOWN: dict[Kind, str] = {"table": "a table", "flows": "flows"}
T = TypeVar("T")
_TYPES: dict[type, str] = {str: "a word", dict: "an object"}


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """How a release was made: nothing in it is computed on the real data, but for `off_schema`.

    `made` says how many of what the method came to make, where that does not follow from its parameters but from its
    noisy counts. `off_schema` says how many values of each column were off the schema and replaced, where no noise is
    drawn: it is the one thing that is counted on the rows. `id` is the random name under which the ledger keeps what
    the release cost; `None` where it cost nothing.
    """

    method: str
    parameters: dict[str, Any] = field(default_factory=dict)
    version: str = __version__
    id: str | None = None
    made: dict[str, int] = field(default_factory=dict)
    off_schema: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Envelope:
    """What `release.json` says: claim, provenance, the file of each table, and the details of its kind."""

    kind: Kind
    claim: Claim
    provenance: Provenance
    details: dict[str, Any]
    files: dict[str, str] = field(default_factory=dict)

    def text(self) -> str:
        """The contents of the file."""
        return spelled(self.plain_spec())

    def plain_spec(self) -> dict[str, Any]:
        """The parts of the file in JSON's own types."""
        return cast(dict[str, Any], _plain(self.spec()))

    def spec(self) -> dict[str, Any]:
        """The parts of the file."""
        return {
            "format": FORMAT,
            "kind": self.kind,
            **({} if self.provenance.id is None else {"id": self.provenance.id}),
            "version": self.provenance.version,
            "method": self.provenance.method,
            "parameters": self.provenance.parameters,
            **({"made": self.provenance.made} if self.provenance.made else {}),
            **({"off_schema": self.provenance.off_schema} if self.provenance.off_schema else {}),
            "claim": self.claim.spec(),
            "files": self.files,
            **self.details,
        }

    @classmethod
    def read(cls, folder: Path, kind: Kind | None = None) -> Self:
        """The envelope of the release in a folder, which is of the kind that is asked for."""
        if not folder.is_dir():
            problem = "is a file; expected a release folder" if folder.exists() else "release folder does not exist"
            raise ReleaseError(f"{folder}: this {problem}")
        path = describing(folder) or folder / DESCRIPTION
        with naming(path):
            envelope = cls.parse(read_description(path))
        if kind and envelope.kind != kind:
            raise ReleaseError(f"{folder}: this release holds {_SHOWN[envelope.kind]}; expected {_SHOWN[kind]}")
        return envelope

    @classmethod
    def parse(cls, spec: object) -> Self:
        """The envelope in decoded JSON."""
        if not isinstance(spec, dict):
            raise ReleaseError(f"found a {type(spec).__name__}; expected an object with a claim")
        if type(spec.get("format")) is not int or spec["format"] != FORMAT:
            raise ReleaseError(f"format is {spec.get('format')!r}; this version reads format {FORMAT}")
        if spec.setdefault("kind", "table") not in get_args(Kind):
            raise ReleaseError(f"kind is {spec['kind']!r}; expected {' or '.join(get_args(Kind))}")
        try:
            claim = parse_claim(entry(spec, "claim", dict))
        except (ValueError, TypeError, AttributeError) as error:
            raise ReleaseError("the claim cannot be understood") from error
        envelope = cls(
            kind=cast(Kind, spec["kind"]),
            claim=claim,
            provenance=Provenance(
                method=entry(spec, "method", str),
                parameters=entry(spec, "parameters", dict),
                version=entry(spec, "version", str),
                id=entry(spec, "id", str) if "id" in spec else None,
                made=_made(entry(spec, "made", dict)) if "made" in spec else {},
                off_schema=_replaced(entry(spec, "off_schema", dict)) if "off_schema" in spec else {},
            ),
            files={table: word(spec["files"], table, "files") for table in entry(spec, "files", dict)},
            details={part: spec[part] for part in PARTS[spec["kind"]] if part in spec},
        )
        refuse_unknown(spec, envelope.spec() | {"id": ""}, DESCRIPTION)
        refuse_unknown(spec["claim"], envelope.claim.spec(), "the claim")
        return envelope


def read_description(path: Path) -> Any:
    """The JSON in the file that describes a release, as if it were written today."""
    try:
        spec = json.loads(path.read_text(encoding="utf-8-sig"), object_pairs_hook=_once)
    except FileNotFoundError as error:
        raise ReleaseError("the file does not exist; expected a release folder") from error
    except (OSError, UnicodeDecodeError) as error:
        raise ReleaseError("the file cannot be read as UTF-8 text") from error
    except (ValueError, RecursionError) as error:
        raise ReleaseError(f"not valid JSON, {error}") from error
    if isinstance(spec, dict) and path.name == OLD_FLOWS:
        today = {"kind": "flows", "method": "commute", "parameters": spec.get("settings")}
        spec |= today | {"files": {"flows": spec.get("file")}}
        spec = {part: value for part, value in spec.items() if part not in OLD_PARTS}
    return spec


def describing(folder: Path) -> Path | None:
    """The file that describes the release in a folder; `None` if there is none."""
    return next((folder / name for name in (DESCRIPTION, OLD_FLOWS) if (folder / name).exists()), None)


def files_of_release(folder: Path) -> set[str]:
    """The names of the files that make up the release in a folder; none if there is no release."""
    try:
        path = describing(folder)
        told = {CODEBOOK} if (folder / CODEBOOK).is_symlink() or (folder / CODEBOOK).exists() else set()
        return {path.name, *Envelope.read(folder).files.values(), *told} if path else set()
    except ReleaseError:
        return set()


def refuse_inside_release(folder: Path) -> None:
    """What is computed on the real data must not land beside what is published."""
    for place in (folder.resolve(), *folder.resolve().parents):
        if describing(place):
            raise ReleaseError(
                f"{folder}: this lies in the release {place}; measures and reports are for the publisher's eyes only"
            )


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Name the file in errors about what it says."""
    try:
        yield
    except SfumatoError as error:
        raise ReleaseError(f"{path}: {error}") from error
    except (ValueError, RecursionError) as error:
        raise ReleaseError(f"{path}: it cannot be understood, {error}") from error


def refuse_unknown(given: object, known: object, where: str) -> None:
    """Refuse a part that has no meaning: whoever reads the file could take it for something that is promised."""
    if isinstance(given, dict) and isinstance(known, dict):
        for part, value in given.items():
            if part not in known:
                raise ReleaseError(f"{part!r} in {where} is not part of a release; expected {', '.join(known)}")
            if where != DESCRIPTION:
                refuse_unknown(value, known[part], f"{part} of {where}")
    elif isinstance(given, list) and isinstance(known, list):
        for one, other in zip(given, known, strict=False):
            refuse_unknown(one, other, where)


def spelled(spec: Any) -> str:
    """The contents of a file that describes a release: there is one way to write them."""
    return json.dumps(spec, indent=2, ensure_ascii=False) + "\n"


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose parts have different names: of two with the same, readers would choose differently."""
    found: dict[str, Any] = {}
    for part, value in pairs:
        if part in found:
            raise ReleaseError(f"{part!r} is given twice")
        found[part] = value
    return found


def entry(spec: dict[str, Any], key: str, kind: type[T]) -> T:
    """A value of the type that it must have."""
    value = spec.get(key)
    if not isinstance(value, kind):
        found = f"is a {type(value).__name__}" if key in spec else "is missing"
        raise ReleaseError(f"{key} {found}; expected {_TYPES[kind]}")
    return value


def _made(spec: dict[str, Any]) -> dict[str, int]:
    """How many of what was made."""
    for what, number in spec.items():
        if what not in COUNTED or type(number) is not int or number < 0:
            raise ReleaseError(f"made has {what} = {number!r}; expected how many {', '.join(COUNTED)} were made")
    return spec


def _replaced(spec: dict[str, Any]) -> dict[str, int]:
    """How many values of each column were replaced."""
    for name, number in spec.items():
        if type(number) is not int or number < 1:
            raise ReleaseError(f"off_schema has {name} = {number!r}; expected how many of its values were replaced")
    return spec


def word(spec: Mapping[str, object], key: str, where: str) -> str:
    """A name in one of the objects; that of a file lies in the folder itself."""
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
