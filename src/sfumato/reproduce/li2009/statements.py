"""What li2009 states that can be checked, and by which rows."""

from sfumato.reproduce.li2009 import judges
from sfumato.reproduce.li2009.judges import by_cut, by_selectivity
from sfumato.reproduce.statement import Entry, Statement, about, found, prints

REVEALED = "a value revealed"


def _values(name: str, printed: int) -> Entry:
    return ("Table 1", f"{name} has {printed} values", str(printed), prints(printed, 0, "declared", name))


def _spans(name: str, why: str = "") -> Entry:
    says = f"the eight values of {name} span privacy losses from near 0 to about 0.6"
    return ("section 5.1, figure 2(a)", says, "0 to 0.6", judges.spans(name), why)


TABLE_1 = about(
    "table-1",
    ("section 5", "Adult has 45,222 complete records", "45,222", prints(45_222, 0, "rows", "age")),
    _values("age", 74),
    _values("workclass", 8),
    (
        "Table 1",
        "all 8 classes of work occur in the complete records",
        "8",
        prints(8, 0, "occurring", "workclass"),
        "Those who never worked have no occupation, so none of them is complete.",
    ),
    _values("education", 16),
    _values("marital-status", 7),
    _values("race", 5),
    _values("sex", 2),
    _values("occupation", 14),
)
INTERPRETATION = about(
    "interpretation",
    ("section 5.1", "the overall distribution of occupation is the printed Q", "14 shares", judges.shares),
    (
        "section 5.1",
        "revealing Armed-Forces, the rarest occupation, costs 0.692",
        "0.692",
        prints(0.692, 0.0005, "p_loss", REVEALED, rank=14),
    ),
    (
        "section 5.1",
        "revealing Craft-repair, the commonest occupation, costs 0.488",
        "0.488",
        prints(0.488, 0.0005, "p_loss", REVEALED, rank=1),
    ),
    (
        "section 5.1",
        "no release can lose more privacy than revealing the rarest value does",
        "0.692",
        prints(0.692, 0.0005, "p_loss", "original table"),
    ),
    (
        "section 5.1",
        "suppressing all quasi-identifiers costs a utility loss of 0.05",
        "0.05",
        prints(0.05, 0.005, "u_loss", "all suppressed"),
        "Which populations there are depends on the hierarchies, and the paper's are not printed; with those of ARX "
        "the loss would be printed as 0.04.",
    ),
    ("section 4.3", "suppressing them costs no privacy", "0", prints(0, 1e-12, "p_loss", "all suppressed")),
    ("section 4.3", "the original table loses no utility", "0", prints(0, 1e-12, "u_loss", "original table")),
)
FIGURE_2A = about(
    "figure-2a",
    (
        "section 5.1",
        "k = 5000 gives P_loss 0.086 and U_loss 0.0288",
        "(0.086, 0.0288)",
        by_cut(judges.k_5000),
        "There are only seven or eight classes: which attribute is cut first moves both losses by as much as the "
        "difference, and the paper does not say how Mondrian chooses.",
    ),
    _spans("k-anonymity"),
    _spans("ℓ-diversity"),
    _spans("t-closeness", "P_loss is what t bounds here, so t = 0.4 cannot reach more than 0.4."),
    _spans(
        "semantic privacy",
        "Every value must keep its share up to a factor e^δ, the rarest too: no class can be small, and none is far "
        "from the whole.",
    ),
    (
        "section 5.1, figure 2(a)",
        "t-closeness has a better tradeoff than the other requirements",
        "–",
        by_cut(judges.best),
    ),
    (
        "section 5.1, figure 2(a)",
        "the settings of t-closeness lie on the frontier of the four requirements",
        "–",
        judges.on_frontier("t-closeness", most=True),
    ),
    (
        "section 5.1, figure 2(a)",
        "ℓ-diversity does not perform well: most of its settings are beaten",
        "–",
        judges.on_frontier("ℓ-diversity", most=False),
    ),
    (
        "section 5.1, figure 2(a)",
        "semantic privacy does not perform well either",
        "–",
        judges.on_frontier("semantic privacy", most=False),
        "In the little range that it reaches, below 0.09, two of its settings are as good as any.",
    ),
    (
        "section 5.1, figure 2(a)",
        "t of 0.075, 0.1 and 0.15 are the settings to publish: they have nearly all of the utility",
        "–",
        by_cut(judges.left_most),
    ),
    (
        "section 5.1, figure 2(a)",
        "the efficient frontier lies somewhere below the curve of t-closeness",
        "–",
        judges.below_t,
    ),
    (
        "section 5.1",
        "with δ below 1 Mondrian returns a single class",
        "1 class",
        by_cut(judges.one_class),
        "Where the widest attribute cannot be cut, others are tried here; some cut leaves the shares of all "
        "occupations nearly as they were.",
    ),
    ("section 5.1", "under semantic privacy there are few classes", "–", by_cut(judges.few_classes)),
    (
        "section 5.1",
        "the two largest privacy losses of ℓ-diversity, at ℓ = 3 and 3.5, exceed that of revealing the commonest value",
        "above 0.488",
        by_cut(judges.beyond_revealing),
        "It is so at ℓ = 3. At ℓ = 3.5 a class needs four values, and the worst four cost 0.43.",
    ),
    (
        "section 5.1",
        "ℓ-diversity requires that even the rarest value has a share of at least 1/ℓ",
        "at least 1/ℓ",
        prints(1 / 3, 0, "rarest_share", "ℓ-diversity", cut="median", l=3),
        "It is the other way round, as section 2.2 says: no value may have a share above 1/ℓ. At ℓ = 3 there are "
        "classes without the rarest value.",
    ),
    ("section 5.1", "the utility loss is below 0.04 in all cases", "below 0.04", judges.all_below(0.04, 1.0)),
    ("section 5.1", "the utility loss is below 0.02 in many cases", "below 0.02", judges.all_below(0.02, 0.5)),
    ("section 2.2", "ℓ-diversity bounds the share of any sensitive value", "1/ℓ", by_cut(judges.at_most_share)),
    (
        "section 2.2",
        "k-anonymity does not prevent attribute disclosure: a class can have one sensitive value only",
        "–",
        by_cut(prints(1, 0, "largest_share", "k-anonymity", k=10)),
    ),
    ("section 2.4", "a release can lose less privacy than its parameter allows", "–", by_cut(judges.loses_less)),
    ("section 1", "the average privacy loss understates that of the worst-off person", "–", judges.average),
    (
        "section 4.1",
        "KL divergence would not be defined: classes miss some sensitive value",
        "–",
        lambda rows: found(
            f"{rows.of('without_some_value', 't-closeness', cut='median', t=0.15).value:.0%} of classes at t = 0.15",
            rows.of("without_some_value", "t-closeness", cut="median", t=0.15).value > 0,
        ),
    ),
)
FIGURE_2B = about(
    "figure-2b",
    ("section 5.1, figure 2(b)", "buckets lose less utility at equal privacy loss", "–", judges.bucketized),
    ("section 5.1, figure 2(b)", "substantially less", "–", judges.substantially),
)
FIGURE_3 = (
    *about(
        "figure-3a",
        ("section 5.2, figure 3(a)", "query errors order the settings as U_loss does", "–", judges.same_pattern),
        ("section 5.2, figure 3(a)", "t-closeness has the best tradeoff here too", "–", judges.t_answers_best),
    ),
    *about(
        "figure-3b", ("section 5.2, figure 3(b)", "errors fall as the selectivity grows", "–", judges.falls_by("sel"))
    ),
    *about(
        "figure-3c",
        (
            "section 5.2, figure 3(c)",
            "errors fall as the number of conditions grows at a fixed selectivity",
            "–",
            by_selectivity(judges.falls_by("qd")),
            "Selectivity is said to be the share of each attribute's values, and meant to be that of the domain. "
            "Rounded to the nearest whole value, conditions on short attributes become too narrow, and errors rise.",
        ),
        (
            "section 5.2, figure 3(c)",
            "because at a fixed selectivity more conditions are about more people",
            "–",
            by_selectivity(judges.more_people),
            "They are about as many people, or fewer. Errors fall because each of many conditions is wider, and cuts "
            "fewer classes.",
        ),
    ),
)
STATEMENTS = (
    *TABLE_1,
    *INTERPRETATION,
    *FIGURE_2A,
    *FIGURE_2B,
    *FIGURE_3,
    Statement(
        place="section 3.1",
        says="direct comparison makes privacy loss always equal to utility gain",
        why="An argument about definitions; there is nothing to measure.",
    ),
)
