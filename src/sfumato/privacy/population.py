"""The name of a population: the people whose losses add up in one account of the ledger.

Two spellings of one name would be two accounts for the same people, and a cap would bound neither. So a name is
stored in one spelling, and a name that can be taken for another one is refused where that one is known.
"""

import re
import unicodedata
from collections.abc import Iterable

from sfumato.errors import ParameterError

SCRIPTS = re.compile(
    "LATIN|GREEK|CYRILLIC|ARMENIAN|HEBREW|ARABIC|DEVANAGARI|BENGALI|GURMUKHI|GUJARATI|ORIYA|TAMIL|TELUGU|KANNADA|"
    "MALAYALAM|SINHALA|THAI|LAO|TIBETAN|MYANMAR|GEORGIAN|ETHIOPIC|KHMER|CJK|IDEOGRAPHIC|HIRAGANA|KATAKANA|BOPOMOFO|HANGUL"
)
"""Scripts in everyday use, as the names of characters begin; others have letters that pass for theirs."""
EASTERN = frozenset(("CJK", "IDEOGRAPHIC", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "BOPOMOFO", "HANGUL"))
"""Scripts that are written beside others; no other two stand in one name."""
LATIN = frozenset("abcdefghijklmnopqrstuvwxyzßæœøþðđħıłŋŧəĸ")
"""Latin letters of alphabets, without accents; others are made for phoneticians, and pass for these."""
BLANK = frozenset("\u115f\u1160\u2800")
"""Characters that show nothing and are letters or symbols all the same."""
TWINS = str.maketrans(
    "аеорсухіјѕһԁԛԝвнкмтгпди" + "οαενρικυχτωβημζγ" + "օսոհցզ" + "øđħıłŧ" + "01|",
    "aeopcyxijshdqwbhkmtrnau" + "oaevpikuxtwbhmzy" + "ounhgq" + "odhilt" + "oll",
)
"""Letters, and digits, that are read as a Latin letter, large or small."""


def population_name(name: str) -> str:
    """The one spelling of a name: compatible characters made the same, spaces at the ends and repeated ones dropped.

    >>> population_name(" made-up   town ")
    'made-up town'
    """
    spelled = " ".join(unicodedata.normalize("NFKC", name).split()) if isinstance(name, str) else ""
    if not spelled or any(map(_is_hidden, spelled)):
        raise ParameterError(f"{name!r} is not the name of a data set; expected a name of text")
    letters = [letter for letter in unicodedata.normalize("NFKD", spelled) if letter.isalpha()]
    scripts = {unicodedata.name(letter, "").split(" ")[0] for letter in letters}
    strange = [letter for letter in letters if _is_strange(letter)]
    if strange:
        raise ParameterError(f"{name!r} has a letter, {strange[0]!r}, that passes for another one; use an everyday one")
    if len(scripts - EASTERN) > 1:
        mixed = " and ".join(sorted(script.title() for script in scripts))
        raise ParameterError(f"{name!r} mixes {mixed} letters; a name that looks like another one opens no account")
    return spelled


def _is_hidden(character: str) -> bool:
    """Whether a character shows nothing, or is none."""
    if character in BLANK or unicodedata.category(character) in ("Cc", "Cf", "Cs", "Co", "Cn"):
        return True
    return unicodedata.name(character, "").startswith(
        ("VARIATION SELECTOR", "MONGOLIAN FREE VARIATION", "COMBINING GRAPHEME")
    )


def _is_strange(letter: str) -> bool:
    """Whether a letter is of no script in everyday use, or a Latin one of no alphabet."""
    script = unicodedata.name(letter, "").split(" ")[0]
    return not SCRIPTS.match(script) or (script == "LATIN" and letter.casefold() not in LATIN | {"ss"})


def refuse_look_alike(name: str, known: Iterable[str]) -> None:
    """Refuse a name that can be taken for one that is known."""
    for other in known:
        if other != name and appearance(other) == appearance(name):
            raise ParameterError(
                f"{name!r} looks like {other!r}, which the ledger knows; people have one account, so use that name, "
                "or one that differs clearly"
            )


def appearance(name: str) -> str:
    """What is left of a name without case, accents and kinds of separators; look-alike letters are the same."""
    plain = "".join(
        _digit(letter) for letter in unicodedata.normalize("NFKD", name) if not unicodedata.combining(letter)
    )
    return re.sub(r"[\W_]+", "-", plain.casefold().translate(TWINS)).strip("-")


def _digit(character: str) -> str:
    """The digit of any script as we write it; other characters as they are."""
    return str(unicodedata.digit(character)) if character.isdigit() else character
