"""Documents between trials and reports: a report is made from nothing else.

A document is plain values, under the keys of the JSON file that other programs read.
"""

import json
import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from sfumato.measures.measurement import Measure
from sfumato.trials.repetition import Interval
from sfumato.version import __version__

Document = dict[str, Any]


def with_header(**parts: Any) -> Document:
    """A document of some parts, below the header of every document."""
    created = datetime.now(UTC).isoformat(timespec="seconds")
    return {"format": 1, "sfumato": __version__, "created": created, **parts}


def measured(
    values: Mapping[str, float], intervals: Mapping[str, Interval], about: Mapping[str, Measure]
) -> dict[str, Any]:
    """Values as JSON can hold them, and the intervals of finite ones, within what their measures can take."""
    finite = {name: interval for name, interval in intervals.items() if all(map(math.isfinite, interval))}
    return {
        "measures": {name: value if math.isfinite(value) else None for name, value in values.items()},
        "intervals": {name: about[name].clip(interval) for name, interval in finite.items()},
    }


def to_json(document: Document) -> str:
    """The text of the document's file."""
    return json.dumps(document, ensure_ascii=False, allow_nan=False, indent=1) + "\n"
