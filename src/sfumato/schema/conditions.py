"""Conditions in words: `(age >= 40 or sex = 'Male') and not disease in (flu, 'heart disease')`.

A condition is `column = value` (also == != <> < <= > >=), `column in (a, b)`, `column not in (a, b)`, `column
between a and b` or `column is [not] missing`. They are joined by `and` and `or`, of which `and` binds tighter, turned
round by `not` and grouped by parentheses. Values with spaces or punctuation stand in single or double quotes (doubled
inside), such column names in backticks or double quotes.

`=` and `in` take everything a published label may be: a value, a taxonomy label, an interval. `<` and `>` compare
numbers, on the grid or not, dates, and values with a declared order; a bin stands for its lower edge there and a period
for its beginning, while `=` means the one that holds the number or the date. A missing value satisfies `is missing` and
no comparison; `not` takes everybody else, so that whoever has no age satisfies `not age > 40`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sfumato.errors import DataError, QueryError
from sfumato.schema.alternatives import Alternatives
from sfumato.schema.axis import Axis, Span
from sfumato.schema.codes import Codes, merge_runs
from sfumato.schema.numeric import NumericAxis

OPERATORS = "= != < <= > >=, in (...), not in (...), between ... and ..., is missing or is not missing"
MAX_DEPTH = 50
_TOKEN = re.compile(
    r"""(?P<quoted>'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`)
    |(?P<operator><=|>=|<>|!=|==|=|<|>)|(?P<mark>[(),])|(?P<word>[^\s'"`<>=!(),]+)|(?P<other>\S)""",
    re.VERBOSE,
)


def read_conditions(text: str, axes: Iterable[Axis]) -> Alternatives:
    """The rows that satisfy conditions on some of the axes."""
    parser = _Parser(text, axes)
    found = parser.any_of()
    token = parser.next()
    if token is not _END:
        raise QueryError(
            f"found {token.shown}; expected 'and', 'or' or the end of the query (values with spaces need quotes)"
        )
    return found


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    shown: str

    def says(self, word: str) -> bool:
        return self.kind in ("word", "mark") and self.text.lower() == word


_END = _Token("end", "", "the end of the query")


def _tokens(text: str) -> Iterator[_Token]:
    for match in _TOKEN.finditer(text):
        shown, kind = match.group(), str(match.lastgroup)
        if kind == "other":
            problem = "has no closing quote" if shown in "'\"`" else "has no meaning here"
            shown = repr(text[match.start() : match.start() + 30])
            raise QueryError(f"{shown} {problem}; expected conditions such as age >= 40 and sex = 'Male'")
        quote = shown[0] if kind == "quoted" else ""
        plain = shown[1:-1].replace(quote * 2, quote) if quote else shown
        yield _Token(quote or kind, plain, repr(shown))


class _Parser:
    """Reads conditions off a list of tokens, front to back."""

    def __init__(self, text: str, axes: Iterable[Axis]) -> None:
        self.waiting = list(_tokens(text))[::-1]
        self.depth = 0
        self.axes = {axis.name: axis for axis in axes}

    def next(self) -> _Token:
        return self.waiting.pop() if self.waiting else _END

    def expect(self, word: str, after: str) -> None:
        token = self.next()
        if not token.says(word):
            raise QueryError(f"found {token.shown} after {after}; expected {word!r}")

    def comes(self, word: str) -> bool:
        """Whether a word comes next; if it does, it is taken."""
        found = bool(self.waiting) and self.waiting[-1].says(word)
        if found:
            self.waiting.pop()
        return found

    def any_of(self) -> Alternatives:
        """Conditions joined by `or`."""
        found = self.all_of()
        while self.comes("or"):
            found = found | self.all_of()
        return found

    def all_of(self) -> Alternatives:
        """Conditions joined by `and`."""
        found = self.one()
        while self.comes("and"):
            found = found & self.one()
        return found

    def one(self) -> Alternatives:
        """A condition, one that is turned round, or several in parentheses."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise QueryError(f"more than {MAX_DEPTH} parentheses and 'not' stand one inside the other")
        if self.comes("not"):
            found = ~self.one()
        elif self.comes("("):
            found = self.any_of()
            token = self.next()
            if not token.says(")"):
                raise QueryError(f"found {token.shown}; expected 'and', 'or' or ')' (values with spaces need quotes)")
        else:
            axis = self.column()
            found = Alternatives.of(axis, self.condition(axis))
        self.depth -= 1
        return found

    def column(self) -> Axis:
        token = self.next()
        if token.kind not in ("word", '"', "`") or token.text not in self.axes:
            raise QueryError(f"found {token.shown} where a column was expected: {', '.join(map(repr, self.axes))}")
        return self.axes[token.text]

    def condition(self, axis: Axis) -> Codes:
        token = self.next()
        if token.kind == "operator":
            return self.comparison(axis, token.text)
        if token.says("in"):
            return Codes.of(self.values(axis))
        if token.says("not"):
            self.expect("in", "'not'")
            return Codes.of(self.values(axis)).except_(axis)
        if token.says("between"):
            first = self.codes_below(axis, "between", False)
            self.expect("and", "the first bound of 'between'")
            return Codes(merge_runs([(first, self.codes_below(axis, "between", True) - 1)]))
        if token.says("is"):
            return self.missing(axis)
        raise QueryError(f"found {token.shown} after the column {axis.name!r}; expected one of {OPERATORS}")

    def comparison(self, axis: Axis, operator: str) -> Codes:
        if operator in ("=", "=="):
            return Codes.of([self.value(axis)])
        if operator in ("!=", "<>"):
            return Codes.of([self.value(axis)]).except_(axis)
        below = self.codes_below(axis, operator, operator in ("<=", ">"))
        return Codes(merge_runs([(0, below - 1) if operator[0] == "<" else (below, axis.size - 1)]))

    def missing(self, axis: Axis) -> Codes:
        token = self.next()
        if token.says("not"):
            self.expect("missing", "'is not'")
            return Codes(((0, axis.size - 1),))
        if token.says("missing"):
            return Codes((), axis.nullable)
        raise QueryError(f"found {token.shown} after 'is'; expected 'missing' or 'not missing'")

    def values(self, axis: Axis) -> list[Span]:
        self.expect("(", "'in'")
        spans = [self.value(axis)]
        while (token := self.next()).says(","):
            spans.append(self.value(axis))
        if not token.says(")"):
            raise QueryError(f"found {token.shown} in a list of values; expected ',' or ')'")
        return spans

    def word(self, axis: Axis) -> _Token:
        token = self.next()
        if token.kind not in ("word", "'", '"') or token.says("and"):
            raise QueryError(f"found {token.shown} where a value of {axis.name!r} was expected: {axis.expected}")
        return token

    def value(self, axis: Axis) -> Span:
        token = self.word(axis)
        try:
            return axis.parse(token.text)
        except DataError as error:
            raise QueryError(
                f"{token.shown} is not a value of {axis.name!r}; expected {axis.expected}, or a group of such"
            ) from error

    def codes_below(self, axis: Axis, operator: str, inclusive: bool) -> int:
        """How many values of the axis lie below the number that comes next, or at it."""
        if not axis.comparable:
            raise QueryError(f"{operator!r} compares numbers, but {axis.name!r} is {axis.kind}; use = or in")
        token = self.word(axis)
        below = axis.count_below(token.text, inclusive=inclusive)
        if below is None:
            expected = "a number" if isinstance(axis, NumericAxis) else axis.expected
            raise QueryError(f"found {token.shown} after {axis.name!r} {operator}; expected {expected}")
        return below
