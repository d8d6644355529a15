"""What kind of values a column of an undescribed table holds, told by its values and, where these leave it open, by its
name; with a sentence that says why."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.data.dates_in_text import find_format
from sfumato.data.profile import Profile, looks_like
from sfumato.data.scales import clipped, scale_of
from sfumato.data.text import LEADING_ZERO
from sfumato.data.word_order import natural_word_order
from sfumato.errors import SchemaError
from sfumato.schema import DateAxis
from sfumato.schema.axis import CLIP
from sfumato.schema.boolean import truth_of
from sfumato.schema.calendar import UNITS, Period
from sfumato.schema.code import MAX_DIGITS, CodeAxis
from sfumato.schema.column import parse_column
from sfumato.schema.prefixes import shape, stem

MAX_CATEGORIES = 200
MAX_CODES = 20_000
SPELLINGS = 4
"""How often a value may be spelled in other ways, such as 2 and 2.0."""
MAX_SPELLINGS = 40
FEW = {"quasi": 12, "sensitive": 30}
"""So few whole numbers may be names rather than numbers."""
MAX_NAME = 99
"""Larger numbers are hardly names, even where few occur."""
LONG_YEARS, SHORT_DAYS = 30, 14
CODE_NAMES = (
    "zip|zipcode|plz|post|postal|postcode|cp|icd|icd10|diag|diagnosis|code|naics|nace|isic|isco|soc|occ|occp|ind|indp|"
    "puma|fips|lau|nuts|insee|atc|lsoa|msoa|cpv|ags|municipality|gemeinde|kreis|commune"
)
NAMING = (
    "sex|gender|race|rac1p|ethnicity|ethnic|hisp|hispanic|origin|marital|msp|religion|status|type|class|category|cat|"
    "housing|tenure|rent|occupation|industry|region|district|department|dept|ward|country|nationality|language|group"
)
COUNTING = (
    "age|agep|year|years|count|number|num|n|size|hours|days|weeks|months|children|kids|persons|members|visits|decile|"
    "quantile|quartile|quintile|percentile|score|rank|grade|level|edu|education|stage|income|wage|weight|height|"
    "rooms|siblings|npf|noc|nop|duration|length|stay|los"
)
CODE_SHAPE = re.compile(r"[\w.\-/: ]{1,12}\Z")
ICD = re.compile(r"[A-Z]\d\d(?:\.?\w{1,4})?\Z")
MAX_SPACES = 0.1
SENTENCE = 4
"""Words in a text that is written and not chosen."""


@dataclass(frozen=True)
class Finding:
    """The keys that declare a column's values, none where they cannot be declared, and why."""

    spec: dict[str, Any]
    why: str


def recognize(column: Profile, role: str) -> Finding:
    """How the values of a column would be declared in a role."""
    finding = next(found for found in _findings(column, role) if found)
    if column.missing and finding.spec:
        spec = finding.spec | {"nullable": True, "from_data": [*finding.spec["from_data"], "nullable"]}
        return Finding(spec, f"{finding.why}; {column.missing:,} missing")
    return finding


def _findings(column: Profile, role: str) -> Iterator[Finding | None]:
    yield _nothing(column)
    yield _dates(column)
    yield _truths(column)
    yield _codes(column)
    yield _few_numbers(column, role)
    yield _numbers(column, role)
    yield _comma_numbers(column, role)
    yield _words(column)
    yield _categories(column, role)
    yield _many_codes(column)
    yield _texts(column)


def _nothing(column: Profile) -> Finding | None:
    if not column.plain:
        return Finding({}, f"holds no values of a plain type ({column.dtype})")
    if not column.present:
        return Finding({}, "no row has a value")
    return None


def _dates(column: Profile) -> Finding | None:
    texts = column.texts.to_list()
    found = find_format(texts)
    if found is None or (column.numbers is not None and not looks_like(column.name, "date|day|datum|dob|birth|time")):
        return None
    pattern, others = found
    ends = {unit: numbers for unit in UNITS if (numbers := _ends(texts, pattern, unit)) is not None}
    unit = next(iter(ends), "year")
    if unit == "year":
        return None
    timed = unit == "hour" and bool((ends[unit] % 24).any())
    days = np.ptp(ends[unit]) / {"hour": 24, "day": 1}.get(unit, 0.1)
    if unit == "hour" and (not timed or days > SHORT_DAYS):
        unit = "day"
    if unit == "day" and days > LONG_YEARS * 366:
        unit = "month"
    low, high = (str(Period(unit, int(end))) for end in (ends[unit].min(), ends[unit].max()))
    keys = {"min": low, "max": high, "unit": unit, **({"format": pattern} if pattern else {})}
    why = f"dates spelled like {texts[0]}, by {unit}"
    why += f"; {others[0]} fits as well, so look whether {pattern} is meant" if others else ""
    why += "; the time of day is left out" if timed and unit != "hour" else ""
    return Finding({"kind": "date", **keys, "off_schema": CLIP, "from_data": list(keys)}, why)


def _ends(texts: list[str], pattern: str, unit: str) -> NDArray[np.int64] | None:
    """The numbers of the periods of some dates, if all of them tell one."""
    spec = {"min": "0001", "max": "9999", "unit": unit, **({"format": pattern} if pattern else {})}
    try:
        axis = DateAxis.declared("dates", spec)
    except SchemaError:
        return None
    codes = axis.encode(texts)
    return codes.astype(np.int64) + axis.first if (codes >= 0).all() else None


def _truths(column: Profile) -> Finding | None:
    labels = column.labels if len(column.texts) <= MAX_SPELLINGS else []
    if {truth_of(label) for label in labels} != {0, 1}:
        return None
    if len(labels) > 2:
        return Finding({"kind": "boolean", "from_data": []}, "yes or no, spelled in several ways")
    values = sorted(labels, key=lambda label: truth_of(label) or 0)
    return Finding({"kind": "boolean", "values": values, "from_data": ["values"]}, "yes or no")


def _codes(column: Profile) -> Finding | None:
    """Codes that look like such or are called so, unless they are so few that they may be listed as categories."""
    zeros = bool(column.texts.str.contains(LEADING_ZERO).any())
    digits = bool(column.texts.str.contains(r"^[0-9]+$").all())
    called = looks_like(column.name, CODE_NAMES)
    texts = column.texts.to_list()
    icd = all(map(ICD.match, texts)) and len({text[:3] for text in texts}) > 1
    if not (zeros and digits) and not called and not icd:
        return None
    if column.numbers is not None and not digits:
        return None
    if not icd and not all(any(map(str.isdigit, text)) for text in texts):
        return None
    lengths = {len(text) for text in texts}
    if digits and len(lengths) == 1 and 2 < min(lengths) <= MAX_DIGITS and len(texts) > FEW["sensitive"]:
        length = lengths.pop()
        why = f"codes of {length} digits, whose beginnings are groups such as {texts[0][:1]}{'*' * (length - 1)}"
        return Finding({"kind": "code", "digits": length, "from_data": ["digits"]}, why)
    levels = [1, 3] if icd and max(lengths) > 3 else [1] if icd else _levels_at_signs(texts)
    return _listed_codes(column, "codes", levels)


def _levels_at_signs(texts: list[str]) -> list[int] | None:
    """Of codes made alike, with signs inside, the lengths from the first sign on."""
    head = re.match(r"\w+(?=\W)", texts[0])
    if head is None or len(set(map(shape, texts))) > 1:
        return None
    return list(range(len(head.group()), len(stem(texts[0]))))


def _listed_codes(column: Profile, what: str, levels: list[int] | None = None) -> Finding | None:
    """The codes one by one, if they can be declared so."""
    if not 2 <= len(column.texts) <= MAX_CODES or not all(map(CODE_SHAPE.match, column.texts.to_list())):
        return None
    spec: dict[str, Any] = {"kind": "code", "values": column.texts.to_list(), "from_data": ["values"]}
    spec |= {"levels": levels} if levels else {}
    try:
        axis = parse_column(column.name, {"role": "keep", **spec}, Path()).axis
    except SchemaError:
        return None
    assert isinstance(axis, CodeAxis)
    spec |= {"values": axis.spec()["values"], "levels": list(axis.prefixes.lengths), "from_data": ["values", "levels"]}
    groups = f"grouped by their beginnings, such as {axis.taxonomy.children[0].label}" if axis.prefixes.lengths else ""
    return Finding(spec, f"{len(column.texts):,} {what} {groups or 'in the order of their numbers'}")


def _few_numbers(column: Profile, role: str) -> Finding | None:
    """Few whole numbers in which order has no evident meaning."""
    numbers = column.numbers
    if numbers is None or len(numbers) > FEW[role] or not (numbers == np.round(numbers)).all():
        return None
    values = sorted(column.labels, key=float)
    spec: dict[str, Any] = {"kind": "categorical", "values": values, "from_data": ["values"]}
    if len(values) > 1 and np.abs(numbers).max() > MAX_NAME and role == "quasi":
        return None
    naming = looks_like(column.name, NAMING) and not looks_like(column.name, "age|income|years")
    if naming or (len(values) == 2 and role == "quasi"):
        return Finding(spec, f"{len(values)} numbers that look like names: their order means nothing")
    if role == "quasi" and (looks_like(column.name, COUNTING) or _counts(numbers, column.counts)):
        return None
    why = f'{len(values)} numbers; if they count or measure something, declare kind = "numeric"'
    return Finding(spec | {"ordered": True}, why)


def _counts(numbers: NDArray[np.float64], counts: NDArray[np.int64]) -> bool:
    """Whether numbers look like those of children or visits: 0, 1, 2, ..., each rarer than the one before."""
    order = np.argsort(numbers)
    whole = np.array_equal(numbers[order], np.arange(len(numbers)))
    return len(numbers) > 2 and whole and bool((np.diff(counts[order]) <= 0).all())


def _numbers(column: Profile, role: str) -> Finding | None:
    if column.numbers is None:
        return None
    scale = scale_of(column.numbers, column.counts, role)
    return Finding(clipped(scale), scale.why)


def _comma_numbers(column: Profile, role: str) -> Finding | None:
    if column.comma_numbers is None:
        return None
    if column.texts.str.contains(".", literal=True).any():
        odd = column.texts.filter(column.texts.str.contains(".", literal=True))[0]
        return Finding({}, f"numbers with points between thousands such as {odd}, which are not read; take them out")
    scale = scale_of(column.comma_numbers, column.counts, role)
    spec = clipped(scale) | {"decimal": ","}
    try:
        parse_column(column.name, {"role": role, **spec}, Path())
    except SchemaError:
        return Finding({}, f"numbers with decimal commas such as {column.texts[0]}, which a schema cannot declare")
    return Finding(spec, f"{scale.why}; with decimal commas")


def _words(column: Profile) -> Finding | None:
    if len(column.texts) > MAX_CATEGORIES:
        return None
    ordered = natural_word_order(column.labels)
    if ordered is None:
        return None
    spec = {"kind": "categorical", "values": ordered, "ordered": True, "from_data": ["values"]}
    return Finding(spec, f"{len(ordered)} values in their natural order, from {ordered[0]} to {ordered[-1]}")


def _categories(column: Profile, role: str) -> Finding | None:
    if len(column.texts) > SPELLINGS * MAX_CATEGORIES:
        return None
    labels = column.labels
    written = np.mean([len(label.split()) >= SENTENCE for label in labels])
    if len(labels) > MAX_CATEGORIES or (written > 0.5 and len(labels) > column.present / 2 > SENTENCE):
        return None
    spec = {"kind": "categorical", "values": labels, "from_data": ["values"]}
    return Finding(spec, f"{len(labels)} different values; put similar ones side by side")


def _many_codes(column: Profile) -> Finding | None:
    """Too many values for categories, but made like codes: digits in most, no sentences."""
    texts = column.texts.to_list()
    digits = np.mean([any(map(str.isdigit, text)) for text in texts])
    spaces = np.mean([" " in text for text in texts])
    alike = len(set(map(shape, texts[:MAX_CODES]))) <= max(len(texts) // 20, 1)
    coded = digits > 0.9 and spaces < MAX_SPACES and alike
    return _listed_codes(column, "codes", _levels_at_signs(texts)) if coded else None


def _texts(column: Profile) -> Finding:
    some, present = len(column.texts), column.present
    if np.mean([len(text.split()) >= SENTENCE for text in column.texts[:1000].to_list()]) > 0.5:
        return Finding({}, "free text, which can name anybody; it is left out")
    why = f"{some:,} different texts in {present:,} rows, too many for categories; group them, or give a hierarchy"
    return Finding({}, why)
