"""The name of a population: the people whose losses add up in one account of the ledger.

Two spellings of one name would be two accounts for the same people, and a cap would bound neither. So a name is
stored in one spelling, and a name that can be taken for another one is refused where that one is known.
"""

import re
import unicodedata
from collections.abc import Iterable

from sfumato.errors import ParameterError

SCRIPTS = ("LATIN", "GREEK", "CYRILLIC", "ARMENIAN", "CHEROKEE")
"""Scripts with letters that look alike; no name mixes them."""
TWINS = str.maketrans(
    "аеорсухіјѕһԁԛԝвнкмтгпди" + "οαενρικυχτωβημζγ" + "օսոհցզ" + "01|",
    "aeopcyxijshdqwbhkmtrnau" + "oaevpikuxtwbhmzy" + "ounhgq" + "oll",
)
"""Letters, and digits, that are read as a Latin letter, large or small."""


def population_name(name: str) -> str:
    """The one spelling of a name: compatible characters made the same, spaces at the ends and repeated ones dropped.

    >>> population_name(" made-up   town ")
    'made-up town'
    """
    spelled = " ".join(unicodedata.normalize("NFKC", name).split()) if isinstance(name, str) else ""
    if not spelled or any(unicodedata.category(letter) in ("Cc", "Cf", "Cs", "Co", "Cn") for letter in spelled):
        raise ParameterError(f"{name!r} is not the name of a data set; expected a name of text")
    scripts = {script for letter in spelled if (script := unicodedata.name(letter, "").split(" ")[0]) in SCRIPTS}
    if len(scripts) > 1:
        mixed = " and ".join(sorted(script.title() for script in scripts))
        raise ParameterError(f"{name!r} mixes {mixed} letters; a name that looks like another one opens no account")
    return spelled


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
    plain = "".join(letter for letter in unicodedata.normalize("NFKD", name) if not unicodedata.combining(letter))
    return re.sub(r"[\W_]+", "-", plain.casefold().translate(TWINS)).strip("-")
