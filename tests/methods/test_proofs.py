"""Each differentially private method has a proof, and proof and code speak of the same steps."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import sfumato.methods
from sfumato.methods import METHODS, DPMethod

FOLDER = Path(sfumato.methods.__path__[0])
PACKAGES = [FOLDER.parent / "mechanisms" / "dirichlet", FOLDER / "flows"]
"""Packages with one proof for all their files, named like the package."""
PROOFS = sorted(proof for proof in FOLDER.rglob("*.proof.md") if proof.parent not in PACKAGES)
FILES = sorted(path for path in FOLDER.rglob("*.py") if path.parent not in PACKAGES)
HEADINGS = ("**Assumes.**", "**Steps.**", "**Claim.**", "**Why.**")
ANCHOR = re.compile(r"# proof: ([a-z-]+)$", re.MULTILINE)
NAMED = re.compile(r"\[([a-z]+(?:-[a-z]+)*)\]")
DRAW = re.compile(r"budget\.(?:counts|choose|spend|sparse_counts)\(")
DP_METHODS = [kind for kind in METHODS.values() if issubclass(kind, DPMethod)]


def code_of(proof: Path) -> str:
    return proof.with_name(proof.name.replace(".proof.md", ".py")).read_text(encoding="utf-8")


def steps_apart(code: str, proof: str) -> tuple[set[str], set[str]]:
    """The steps that only the code makes, and those that only the proof speaks of."""
    made, named = set(ANCHOR.findall(code)), set(NAMED.findall(proof))
    return made - named, named - made


def draws_without_anchor(code: str) -> list[str]:
    return [line.strip() for line in code.splitlines() if DRAW.search(line) and not ANCHOR.search(line)]


@pytest.mark.parametrize("proof", PROOFS, ids=lambda path: path.name)
def test_proof_and_code_speak_of_the_same_steps(proof: Path) -> None:
    text = proof.read_text(encoding="utf-8")
    assert steps_apart(code_of(proof), text) == (set(), set())
    assert [heading for heading in HEADINGS if heading not in text] == []


@pytest.mark.parametrize("package", PACKAGES, ids=lambda path: path.name)
def test_the_proof_of_a_package_speaks_of_the_steps_of_its_files(package: Path) -> None:
    text = (package / f"{package.name}.proof.md").read_text(encoding="utf-8")
    code = "".join(path.read_text(encoding="utf-8") for path in sorted(package.glob("*.py")))
    assert steps_apart(code, text) == (set(), set())
    assert [heading for heading in HEADINGS if heading not in text] == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_draw_carries_an_anchor(path: Path) -> None:
    assert draws_without_anchor(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_file_with_anchors_has_a_proof(path: Path) -> None:
    if ANCHOR.search(path.read_text(encoding="utf-8")):
        assert path.with_name(path.name.replace(".py", ".proof.md")) in PROOFS


@pytest.mark.parametrize("kind", DP_METHODS, ids=lambda kind: kind.name)
def test_every_private_method_names_its_proof(kind: type[DPMethod]) -> None:
    named = re.search(r"proof in ([a-z_]+\.proof\.md)", kind.__doc__ or "")
    assert named
    assert named.group(1) in {proof.name for proof in PROOFS}


def test_a_step_left_out_would_be_noticed() -> None:
    code = "x = budget.counts(y, z)  # proof: leaf-counts\n"
    assert steps_apart(code, "Of [leaf-counts] and [cuts].") == (set(), {"cuts"})
    assert steps_apart(code, "Nothing.") == ({"leaf-counts"}, set())
    assert draws_without_anchor("x = budget.choose(y)\n") == ["x = budget.choose(y)"]
