"""Blocks of code that stand twice in `src`, names, strings and numbers aside.

Only the code of functions counts, without blank lines, comments, docstrings, imports, decorators, the options of
commands and lines that only pass a name on: these and the tables of constants outside functions follow a form and are
alike.
`python tests/repeated_code.py 6` lists blocks of six lines and more.
"""

from __future__ import annotations

import ast
import io
import keyword
import sys
import tokenize
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1] / "src" / "sfumato"
IGNORED = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
PASSED_ON = {"", "n", "s", "n = n"}
FSTRINGS = ("FSTRING_START", "FSTRING_MIDDLE", "FSTRING_END")
STRINGS = {tokenize.STRING, *(getattr(tokenize, name) for name in FSTRINGS if hasattr(tokenize, name))}


@dataclass(frozen=True, order=True)
class Line:
    """A line of code as it looks with every name, string and number replaced by a letter."""

    file: str
    number: int
    shape: str


@dataclass(frozen=True, order=True)
class Repeat:
    """Two places with the same code: where each begins, and how many lines of code they share."""

    first: str
    second: str
    lines: int

    def __str__(self) -> str:
        return f"{self.first} and {self.second}: {self.lines} lines"


def code_lines(tree: ast.Module, commands: bool) -> set[int]:
    """The lines of all functions, without those that only declare."""
    code: set[int] = set()
    declared: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            code |= span(node)
            if commands:
                declared |= set(range(node.lineno + 1, node.body[0].lineno))
        elif isinstance(node, ast.Import | ast.ImportFrom) or (
            isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        ):
            declared |= span(node)
    return code - declared


def span(node: ast.stmt) -> set[int]:
    return set(range(node.lineno, (node.end_lineno or node.lineno) + 1))


def shapes(file: str, text: str) -> list[Line]:
    """The lines of code of a file."""
    wanted = code_lines(ast.parse(text), file.startswith("cli/"))
    lines: dict[int, list[str]] = defaultdict(list)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        line = token.start[0]
        if token.type in IGNORED or line not in wanted:
            continue
        if token.type == tokenize.NAME and not keyword.iskeyword(token.string):
            lines[line].append("n")
        elif token.type in STRINGS:
            lines[line].append("s")
        else:
            lines[line].append("0" if token.type == tokenize.NUMBER else token.string)
    found = [Line(file, number, " ".join(parts)) for number, parts in sorted(lines.items())]
    return [line for line in found if line.shape.strip("()[]{}, ") not in PASSED_ON]


def repeats(files: dict[str, str], least: int) -> list[Repeat]:
    """The longest runs of at least so many lines of code that stand in two places."""
    code = [shapes(file, text) for file, text in sorted(files.items())]
    places = defaultdict(list)
    for lines in code:
        for start in range(len(lines) - least + 1):
            places[tuple(line.shape for line in lines[start : start + least])].append((lines, start))
    found = []
    for same in places.values():
        for number, (lines, start) in enumerate(same):
            for others, other in same[number + 1 :]:
                if lines is others and other < start + least:
                    continue
                if start and other and lines[start - 1].shape == others[other - 1].shape:
                    continue
                length = common(lines[start:], others[other:])
                found.append(Repeat(where(lines[start]), where(others[other]), length))
    return sorted(found)


def common(lines: list[Line], others: list[Line]) -> int:
    """How many lines two pieces of code share from their start."""
    pairs = zip(lines, others, strict=False)
    return next(
        (length for length, (one, two) in enumerate(pairs) if one.shape != two.shape), min(len(lines), len(others))
    )


def where(line: Line) -> str:
    return f"{line.file}:{line.number}"


def source_files(folder: Path = SOURCE) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text(encoding="utf-8") for path in sorted(folder.rglob("*.py"))}


if __name__ == "__main__":
    for repeat in repeats(source_files(), int(sys.argv[1]) if len(sys.argv) > 1 else 8):
        sys.stdout.write(f"{repeat}\n")
