"""The natural order of words that have one: months, weekdays, degrees, ranges such as `<10k`, `10-20k`, `65+`."""

import math
import re
from collections.abc import Sequence
from itertools import pairwise

LADDERS = """
january/february/march/april/may/june/july/august/september/october/november/december
jan/feb/mar/apr/may/jun/jul/aug/sep|sept/oct/nov/dec
januar|jänner/februar/märz/april/mai/juni/juli/august/september/oktober/november/dezember
jan/feb/mär|mrz/apr/mai/jun/jul/aug/sep/okt/nov/dez
monday/tuesday/wednesday/thursday/friday/saturday/sunday
mon/tue|tues/wed/thu|thur|thurs/fri/sat/sun
montag/dienstag/mittwoch/donnerstag/freitag/samstag|sonnabend/sonntag
mo/di/mi/do/fr/sa/so
none|no/very low/low/medium|moderate|middle|average|normal/high/very high/extreme
never/rarely|seldom/sometimes|occasionally/often|frequently/very often|usually/always
strongly disagree/disagree/somewhat disagree|slightly disagree/neutral|neither|neither agree nor disagree|undecided\
/somewhat agree|slightly agree/agree/strongly agree
very dissatisfied/dissatisfied/neutral|neither/satisfied/very satisfied
terrible|very bad|very poor/bad|poor/fair|average|ok|okay/good/very good/excellent|great
xxs/xs/s/m/l/xl/xxl/xxxl
tiny|very small/small/medium/large|big/very large|huge
none/minimal/mild|light|minor/moderate|medium/severe|serious|major/critical|extreme|fatal
infant|baby/toddler/child/teenager|adolescent|teen/young adult/adult/middle-aged/senior|elderly
no school|none/preschool/primary|elementary/lower secondary|middle school/secondary|high school/some college\
/associate|associates/bachelor|bachelors/master|masters/doctorate|doctor|phd
daily/weekly/fortnightly/monthly/quarterly/yearly|annually/never
first/second/third/fourth/fifth/sixth/seventh/eighth/ninth/tenth
i/ii/iii/iv/v/vi/vii/viii/ix/x/xi/xii
"""
"""Words from low to high, on each step those that mean the same."""
RANKS = tuple(
    {word: step for step, words in enumerate(line.split("/")) for word in words.split("|")}
    for line in LADDERS.strip().splitlines()
)
MIN_WORDS = 2
NUMBER = r"[-+]?(?:\d[\d,.' ]*\d|\d)\s*[kKmM]?"
BELOW = re.compile(rf"(?:<=?|≤|under|below|less than|up to|at most|bis|unter)\s*({NUMBER})\Z", re.IGNORECASE)
ABOVE = re.compile(
    rf"(?:(?:>=?|≥|over|above|more than|at least|from|ab|über)\s*({NUMBER})"
    rf"|({NUMBER})\s*(?:\+|or more|or over|and over|and more|und mehr|plus))\Z",
    re.IGNORECASE,
)
BETWEEN = re.compile(rf"({NUMBER})\s*(?:-|–|\.\.|to|bis)\s*({NUMBER})\Z", re.IGNORECASE)
CURRENCY = re.compile(r"[$€£¥]|\b(?:usd|eur|gbp|chf|years?|yrs?|jahre)\b", re.IGNORECASE)
TIMES = {"k": 1e3, "m": 1e6}


def natural_word_order(labels: Sequence[str]) -> list[str] | None:
    """The labels in the order that their words have, `None` if they have none."""
    return _on_a_ladder(labels) or _as_ranges(labels)


def _on_a_ladder(labels: Sequence[str]) -> list[str] | None:
    plain = {label: " ".join(re.split(r"[\s_]+", label.strip().casefold())).rstrip(".") for label in labels}
    for rank in RANKS:
        if all(word in rank for word in plain.values()) and len({rank[word] for word in plain.values()}) > 1:
            return sorted(labels, key=lambda label: (rank[plain[label]], label))
    return None


def _as_ranges(labels: Sequence[str]) -> list[str] | None:
    """Ranges by where they begin; they may touch, and one of them has to be no plain number."""
    ends = {label: _range(label) for label in labels}
    known = {label: found for label, found in ends.items() if found}
    if len(known) < len(labels) or len(labels) < MIN_WORDS or all(low == high for low, high in known.values()):
        return None
    ordered = sorted(labels, key=lambda label: (known[label][0], known[label][1], label))
    overlap = any(known[one][1] > known[other][0] for one, other in pairwise(ordered))
    return None if overlap else ordered


def _range(label: str) -> tuple[float, float] | None:
    text = CURRENCY.sub("", label).strip()
    if match := BELOW.match(text):
        return -math.inf, _number(match.group(1))
    if match := ABOVE.match(text):
        return _number(match.group(1) or match.group(2)), math.inf
    if match := BETWEEN.match(text):
        low, high = match.groups()
        unit = high[-1].lower() if high[-1].lower() in TIMES and low[-1].isdigit() else ""
        ends = _number(low + unit), _number(high)
        return ends if ends[0] <= ends[1] else None
    return (_number(text),) * 2 if re.fullmatch(NUMBER, text) else None


def _number(text: str) -> float:
    """A number with thousands set apart, in thousands or millions."""
    times = TIMES.get(text[-1].lower(), 1)
    digits = text.rstrip("kKmM ").replace(" ", "").replace("'", "")
    digits = re.sub(r"[,.](?=\d{3}(?:\D|$))", "", digits).replace(",", ".")
    head, *rest = digits.split(".")
    return float(head + ("." + "".join(rest) if rest else "")) * times
