"""The dictated words that browser and Python must agree on: the stored file is what Python makes of them."""

from __future__ import annotations

import json
from fractions import Fraction

from .vectors import AXES, FILE, encoded, vectors


def test_the_stored_vectors_are_what_python_makes_of_the_words() -> None:
    assert FILE.read_text(encoding="utf-8") == encoded(vectors())


def test_the_vectors_hold_what_is_rare() -> None:
    stored = json.loads(FILE.read_text(encoding="utf-8"))
    assert [(axis["size"], axis["epsilon"]) for axis in stored] == list(AXES)
    assert sum(len(axis["cases"]) for axis in stored) > 1_200
    for axis in stored:
        taken = [len(words) for _, words, _ in axis["cases"]]
        usual = 2 * len(axis["tables"])
        assert min(taken) == usual
        # Words on an entry, and words beyond the table, take further ones.
        assert Fraction(axis["epsilon"]) > 1000 or sum(count > usual for count in taken) > 20
