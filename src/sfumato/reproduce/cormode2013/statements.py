"""What cormode2013 states that can be checked, and by which rows."""

from collections.abc import Callable

from sfumato.reproduce.cormode2013 import judges, tradeoff_judges
from sfumato.reproduce.cormode2013.judges import each_series, moves, on
from sfumato.reproduce.cormode2013.measuring import ADULT, CENSUS
from sfumato.reproduce.rows import Rows
from sfumato.reproduce.statement import Entry, Finding, Statement, about, prints

EXCERPT = "The excerpt of the American Community Survey stands in for IPUMS."
BASELINE = "Against 13.4%, the true share of the commonest occupation, the same accuracy is a smaller gain."


def _on_both(place: str, says: str, printed: str, judge: Callable[[Rows], Finding], why: str = "") -> tuple[Entry, ...]:
    """The same statement about both data sets."""
    return tuple((place, f"{name}: {says}", printed, on(name, judge), why) for name in (ADULT, CENSUS))


SETUP = about(
    "setup",
    ("section III", "Adult has 30,162 tuples", "30,162", prints(30_162, 0, "rows", ADULT, reading="closed ranges")),
    (
        "section III",
        "Census has 100,000 tuples",
        "100,000",
        judges.elsewhere("rows", "{:,.0f} in the excerpt"),
        EXCERPT,
    ),
    (
        "section III",
        "Adult: the median query is about 13% of the tuples",
        "13%",
        on(ADULT, judges.selectivity(0.13)),
        "A range from a value to half of the domain further on includes both ends; over the values that occur, in "
        "alphabetical order, that gives the printed share. In the order of a taxonomy, with Private at an end, it does "
        "not.",
    ),
    (
        "section III",
        "Census: the median query is about 8% of the tuples",
        "8%",
        on(CENSUS, judges.selectivity(0.08, decides=False)),
        EXCERPT,
    ),
    (
        "section III",
        "Adult: the baseline, always guessing the most frequent value, is right for 11%",
        "11%",
        judges.baseline,
        "Prof-specialty has 13.4% of the 30,162 tuples.",
    ),
    (
        "section III",
        "Census: the baseline is right for 11%",
        "11%",
        judges.elsewhere("baseline", "{:.1%} in the excerpt"),
        EXCERPT,
    ),
)
FIGURE_1 = about(
    "figure-1",
    *_on_both("figure 1", "errors rise with k", "–", each_series(moves("error", "k", up=True))),
    *_on_both("figure 1", "the adversary gains less with larger k", "–", each_series(moves("breach", "k", up=False))),
    (
        "section III, figure 1(c)",
        "Adult: k ≤ 8 leaves the adversary more than 180% above the baseline",
        "> 180%",
        on(ADULT, judges.breach_at((2, 4, 8), 1.8)),
        BASELINE,
    ),
    (
        "section III, figure 1(d)",
        "Census: k ≤ 8 leaves the adversary more than 50% above the baseline",
        "> 50%",
        on(CENSUS, judges.breach_at((2, 4, 8), 0.5)),
    ),
    *_on_both("section III", "even k = 1024 leaves 50% above the baseline", "50%", judges.breach_at((1024,), 0.5)),
)
FIGURE_2 = about(
    "figure-2",
    *_on_both("figure 2", "errors rise with ℓ", "–", each_series(moves("error", "l", up=True))),
    (
        "section III, figure 2",
        "Adult: ℓ ≥ 6 cannot be met, and the tree stays at its root",
        "6",
        on(ADULT, judges.at_root(6)),
        "That is the probabilistic form; distinct values, entropy and recursive diversity go on.",
    ),
    (
        "section III, figure 2",
        "Census: ℓ ≥ 8 cannot be met",
        "8",
        on(CENSUS, judges.at_root(8, decides=False)),
        "The excerpt's commonest decile has 14.4%, so no table can reach 7; ℓ = 6 stays at the root.",
    ),
    *_on_both("section III", "accuracy falls sharply with each step of ℓ", "–", judges.sharper),
    (
        "section III, figure 2(c)",
        "Adult: the breach at the root is 20%",
        "20%",
        on(ADULT, judges.root_breach(0.2)),
        BASELINE,
    ),
    (
        "section III, figure 2(d)",
        "Census: the breach at the root is about zero",
        "0",
        on(CENSUS, judges.root_breach(0.0)),
    ),
)
FIGURE_3 = about(
    "figure-3",
    *_on_both("section III, figure 3", "a smaller t makes larger leaves", "–", judges.within_t),
    *_on_both("section III, figure 3", "errors fall as t grows", "–", each_series(moves("error", "t", up=False))),
    *_on_both(
        "section III, figure 3", "the adversary gains as t grows", "–", each_series(moves("breach", "t", up=True))
    ),
    *_on_both(
        "section III, figure 3",
        "t stops mattering above 0.35",
        "0.35",
        judges.levels_off,
        "It depends on the ground distance: with equal ones t matters up to 0.6, with ordered ones it stops before.",
    ),
)
FIGURE_4 = about(
    "figure-4",
    *_on_both("figure 4", "errors fall as ε grows", "–", each_series(moves("error", "epsilon", up=False))),
    *_on_both("figure 4", "the adversary gains as ε grows", "–", each_series(moves("breach", "epsilon", up=True))),
    *_on_both(
        "section III, figure 4",
        "ε = 0.01 has relative errors of about 100%",
        "100%",
        judges.error_at(0.01, judges.about_all),
        "Only for narrow queries or high trees.",
    ),
    *_on_both(
        "section III, figure 4",
        "ε = 0.01 makes predictions worse than the baseline",
        "< 0",
        judges.breach_below(0.01),
        "For trees of a fixed height. A tree whose height suits so small an ε has few and large leaves, which still "
        "show who is where.",
    ),
    *_on_both("section III, figure 4", "ε = 10 has little error", "–", judges.error_at(10.0, judges.little)),
)
FIGURE_5 = about(
    "figure-5",
    *_on_both("section III, figure 5", "all models converge where errors are small", "–", tradeoff_judges.converge),
    (
        "section III, figure 5(a)",
        "Adult: t-closeness has the least breach at errors below 10%",
        "–",
        on(ADULT, tradeoff_judges.best_at((0.04, 0.07, 0.09), ("t-closeness",))),
        "Differential privacy at ε of 0.5 to 3 has as little error here and less breach.",
    ),
    *_on_both(
        "section III, figure 5",
        "at single-digit errors ℓ-diversity or t-closeness outperform differential privacy",
        "–",
        tradeoff_judges.best_at((0.04, 0.07, 0.09), ("ℓ-diversity", "t-closeness")),
    ),
    *_on_both(
        "section III, figure 5",
        "differential privacy dominates where less than 100% of breach is asked for",
        "–",
        tradeoff_judges.private_end,
    ),
    (
        "section III, figure 5(b)",
        "Census: from 5% to 40% of error k-anonymity's breach changes by about 10% only",
        "10%",
        on(CENSUS, tradeoff_judges.hardly_moves),
        "Measured up to 30%, beyond which k-anonymity does not go here.",
    ),
    (
        "section III, figure 5(b)",
        "Census: ℓ-diversity and t-closeness are similar",
        "–",
        on(CENSUS, tradeoff_judges.alike),
    ),
    (
        "section III, figure 5(b)",
        "Census: at 25% of error differential privacy gives nearly no breach, others need about 60% of error",
        "0 at 25%",
        on(CENSUS, tradeoff_judges.nearly_nothing),
    ),
    *_on_both("section III", "no model wins across the whole range", "–", tradeoff_judges.nobody_always),
    *_on_both(
        "section III",
        "at ε = 1 some syntactic setting has less error and less breach",
        "–",
        tradeoff_judges.beaten_at_one,
    ),
)
FIGURE_6 = (
    *about(
        "figure-6a",
        (
            "section III, figure 6(a)",
            "Census: k = 8 and ε = 1 have almost the same tradeoff over the heights",
            "–",
            on(CENSUS, tradeoff_judges.same_curve),
        ),
    ),
    *about(
        "figure-6b",
        (
            "section III, figure 6(b)",
            "Census: with more data queries are answered more accurately",
            "–",
            on(CENSUS, each_series(moves("error", "share", up=False))),
        ),
        (
            "section III, figure 6(b)",
            "Census: with more data the adversary is more accurate",
            "–",
            on(CENSUS, each_series(moves("breach", "share", up=True))),
        ),
        (
            "section III, figure 6(b)",
            "Census: with little data differential privacy has more privacy and less utility",
            "–",
            on(CENSUS, tradeoff_judges.less_data),
        ),
        (
            "section III, figure 6(b)",
            "Census: with all data k-anonymity dominates differential privacy",
            "–",
            on(CENSUS, tradeoff_judges.more_data),
            "It has less error and more breach, with all data too. The excerpt has a quarter of the paper's rows.",
        ),
    ),
)
STATEMENTS = (
    *SETUP,
    *FIGURE_1,
    *FIGURE_2,
    *FIGURE_3,
    *FIGURE_4,
    *FIGURE_5,
    *FIGURE_6,
    *about(
        "classifiers",
        (
            "section II",
            "other classifiers differ by low single digit percentages",
            "–",
            judges.classifiers,
            "Looking one's class up is better than naive Bayes where classes are small, and worse under noise.",
        ),
    ),
    Statement(
        place="section IV",
        says="the difference between the methods is not so large",
        why="Large is not a number; figure 5 shows the difference.",
    ),
)
