"""The browser's noise: the same words give the same report as in Python, and real randomness gives the channel."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pytest

from sfumato.mechanisms.channels import TruncatedGeometric

from ...mechanisms.pearson import deviation
from ...report.browser import needs_browser
from .vectors import AXES, FILE
from .watching import address

if TYPE_CHECKING:
    from .client import Client
    from .watching import WatchingBrowser

pytestmark = needs_browser

SLOWEST_TABLE = 0.1

COMPARE = """
async ({ size, epsilon, tables, cases }, spoiled) => {
  const { makeLaws, perturbed } = await import("/assets/perturb.js");
  const laws = makeLaws(size, epsilon);
  const joined = ({ high, low }) => Array.from(high, (part, k) => (BigInt(part) << 32n) | BigInt(low[k]));
  const digest = async (table) => {
    const text = new TextEncoder().encode(table.map((word) => word.toString(16).padStart(16, "0")).join(""));
    const bytes = new Uint8Array(await crypto.subtle.digest("SHA-256", text));
    return [table.length, Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")];
  };
  let waiting = [];
  const take = (count) => {
    if (waiting.length < count) throw new Error("more words were taken than by Python");
    return waiting.splice(0, count);
  };
  const wrong = [];
  const made = await Promise.all(laws.map(joined).map(digest));
  if (JSON.stringify(made) !== JSON.stringify(tables)) wrong.push("tables");
  for (const [code, words, report] of cases) {
    waiting = words.map((word) => BigInt("0x" + word) + (spoiled ? 2n ** 62n : 0n)).map((word) => word % 2n ** 64n);
    try {
      if (perturbed(size, laws, code, take) !== report || waiting.length) wrong.push([code, words, report]);
    } catch (error) {
      wrong.push(String(error));
    }
  }
  return wrong;
}
"""
DRAW = """
async (size, epsilon, code, draws) => {
  const { makeMechanism } = await import("/assets/perturb.js");
  const { perturb } = makeMechanism({ size, epsilon });
  const counts = new Array(size).fill(0);
  for (let i = 0; i < draws; i++) counts[perturb(code)]++;
  return counts;
}
"""


def called(page: WatchingBrowser, function: str, *arguments: Any) -> Any:
    return page.evaluate(f"({function})({', '.join(json.dumps(one) for one in arguments)})")


@pytest.fixture
def blank(page: WatchingBrowser, site: Client) -> WatchingBrowser:
    """A page of the collector that does nothing by itself."""
    page.goto(address(site, "/assets/page.css"))
    return page


@pytest.mark.parametrize("which", range(len(AXES)), ids=lambda i: f"{AXES[i][0]} at {AXES[i][1]}")
def test_the_same_words_give_the_same_report(blank: WatchingBrowser, which: int) -> None:
    axis = json.loads(FILE.read_text(encoding="utf-8"))[which]
    assert called(blank, COMPARE, axis, 0) == []
    if axis["size"] > 2 and Fraction(axis["epsilon"]) < 3:
        assert len(called(blank, COMPARE, axis, 1)) > len(axis["cases"]) / 4


@pytest.mark.parametrize(
    ("size", "epsilon", "code", "draws"),
    [(20, "1/2", 7, 10_000), (100, "1/10", 50, 10_000), (8, "3/2", 7, 10_000), (600, "1/1500", 200, 40_000)],
)
def test_real_randomness_gives_the_channel(
    blank: WatchingBrowser, size: int, epsilon: str, code: int, draws: int
) -> None:
    """Fails wrongly once in a million; a twin with 1.3 ε must be found out from as many draws.

    In 2,000 simulated runs or more of each twin, χ² was at least 7 standard deviations above its limit on average.
    """
    expected = draws * TruncatedGeometric(size=size, epsilon=Fraction(epsilon)).matrix()[code]
    assert expected.sum() == pytest.approx(draws)
    found, most = deviation(called(blank, DRAW, size, epsilon, code, draws), expected)
    assert found <= most
    twin = str(Fraction(epsilon) * Fraction(13, 10))
    found, most = deviation(called(blank, DRAW, size, twin, code, draws), expected)
    assert found > most


def test_noise_comes_from_the_secure_generator_alone_and_equally_much_for_every_value(blank: WatchingBrowser) -> None:
    """Neither a word source passed to it nor a replaced Math.random changes what is drawn."""
    asked = called(
        blank,
        """
    async () => {
      const { makeMechanism } = await import("/assets/perturb.js");
      const secure = crypto.getRandomValues.bind(crypto);
      const asked = [];
      Math.random = () => { throw new Error("Math.random was called"); };
      crypto.getRandomValues = (array) => { asked.push(array.byteLength); return secure(array).fill(2n ** 63n); };
      const zeros = (count) => new BigUint64Array(count);
      const mechanism = makeMechanism({ size: 100, epsilon: "1/2", takeWords: zeros, words: zeros, seed: 1 });
      const reports = [0, 17, 50, 99].map((code) => mechanism.perturb(code, zeros, 1));
      const frozen = Object.isFrozen(mechanism) && Object.keys(mechanism).join();
      crypto.getRandomValues = (array) => { asked.push(array.byteLength); array.set([2n ** 63n, 0n]); return array; };
      return { asked, reports, frozen, moved: mechanism.perturb(50) };
    }
    """,
    )
    # Equal words for both draws cancel out; half of all words lie below F(1) at ε = 1/2: 1 − e^(−1) = 0.63.
    assert asked == {"asked": [16] * 5, "reports": [0, 17, 50, 99], "frozen": "size,epsilon,perturb", "moved": 51}


@pytest.mark.parametrize(
    ("size", "epsilon", "code", "said"),
    [
        (100, "1/2", 100, "the value 100 is not on the axis; expected a whole number from 0 to 99"),
        (100, "1/2", -1, "the value -1 is not on the axis"),
        (100, "1/2", 1.5, "the value 1.5 is not on the axis"),
        (0, "1/2", 0, "the number of values is 0; expected a whole number from 1"),
        (100, "0", 0, "epsilon is 0; expected a number above 0"),
        (100, "-1/2", 0, "epsilon is -1/2; expected a number above 0"),
        (100, "1/0", 0, "epsilon is 1/0; expected"),
        (100, "1000001", 0, "epsilon is 1000001; expected a number above 0 and at most 1,000,000"),
    ],
)
def test_what_makes_no_sense_is_refused(
    blank: WatchingBrowser, size: int, epsilon: str, code: float, said: str
) -> None:
    with pytest.raises(RuntimeError) as refused:
        called(blank, DRAW, size, epsilon, code, 1)
    assert said in str(refused.value)


def test_a_fraction_and_a_decimal_are_the_same_noise(blank: WatchingBrowser) -> None:
    assert (
        called(
            blank,
            """
    async () => {
      const { parseEpsilon } = await import("/assets/perturb.js");
      return ["1/2", "0.5", 0.5, "2/4", "0.50"].map((text) => parseEpsilon(text).join("/"));
    }
    """,
        )
        == ["1/2"] * 5
    )


def test_tables_are_made_fast(blank: WatchingBrowser) -> None:
    """4,438 entries at ε = 0.01; the fastest of three, because other work may run beside it."""
    seconds = called(
        blank,
        """
    async () => {
      const { makeMechanism } = await import("/assets/perturb.js");
      const times = [1, 2, 3].map(() => {
        const start = performance.now();
        makeMechanism({ size: 100, epsilon: "1/100" });
        return performance.now() - start;
      });
      return Math.min(...times) / 1000;
    }
    """,
    )
    assert seconds < SLOWEST_TABLE
