"""What machanavajjhala2008 states that can be checked, and by which rows."""

from sfumato.reproduce.machanavajjhala2008 import judges
from sfumato.reproduce.statement import Statement, about, at_least, at_most, prints

MILES = {50: 6.23, 75: 13.1, 90: 21.54}
WORKED = about(
    "worked-examples",
    (
        "section IV-A",
        "a million people and ε = 7 need α ≥ 914",
        "914",
        prints(914, 0.5, "alpha", "a million people"),
        "m/(e^ε − 1) is 912.7; the printed number is a little on the safe side.",
    ),
    (
        "section IV-A",
        "ε = 7 allows likelihoods to differ by 1096",
        "1096",
        prints(1096, 1, "ratio", "a million people"),
    ),
    ("section IV-A", "m = 20 and ε = 7 need α of 0.018", "0.018", prints(0.018, 0.0005, "alpha", "the worst case")),
    (
        "section IV-A",
        "the worst output of m = n = 20 and two blocks has probability e^−24.9",
        "−24.9",
        prints(-24.9, 0.05, "log_probability", "the worst case"),
    ),
    (
        "section IV-A",
        "Laplace noise of density ε/4 · exp(−ε|x|/2) has variance 8/ε²",
        "8/ε²",
        judges.always("variance", "Laplace noise", 1),
    ),
    (
        "section VI",
        "dropping blocks with f ≥ 0.0378 and ⌈α⌉ = 1 costs at most 4",
        "≤ 4",
        lambda rows: at_most(rows.of("extra", "dropping"), 4),
    ),
    ("section VI", "ε is 8.6 in all", "8.6", prints(8.6, 0.05, "total", "dropping")),
)
THEOREMS = about(
    "theorems",
    ("Theorem 4.1", "the largest likelihood ratio is (m + min α)/min α", "–", judges.always("ratio", "Theorem 4.1", 1)),
    (
        "section IV-B",
        "there are C(m + k − 1, k − 1) synthetic data sets",
        "–",
        judges.always("outputs", "Theorem 4.1", 1),
    ),
    (
        "Theorem 4.3",
        "outputs with m_i ≤ (e^ε − 1)(n_i + α_i − 1), or (e^ε − 1) α_i where nobody lives, disclose nothing",
        "–",
        judges.never_above("wrong", "Theorem 4.3", 0),
    ),
    (
        "Theorem 4.4",
        "with the α it asks for, Algorithm 1 discloses with probability at most δ",
        "≤ δ",
        judges.never_above("over_delta", "Theorem 4.4", 1),
        "The shares of δ that are used; with two blocks nearly nothing.",
    ),
    (
        "section IV-B",
        "a data set satisfies (ε, δ)-pdp if the part of each destination does",
        "≤ δ",
        lambda rows: at_most(
            rows.of("two_over_delta", "two destinations"),
            1 + judges.EXACT,
            f"two destinations disclose with probability {rows.of('two_over_delta', 'two destinations')} · δ",
        ),
        "Something is disclosed if it is at any destination: for 8,358 of them δ bounds each, and 8,358 δ the file. "
        "The (ε, δ)-differential privacy that follows does hold for the file.",
    ),
    (
        "Lemma 5.1",
        "drawing again until the output represents the data breaks differential privacy",
        "∞",
        judges.certain,
    ),
    (
        "Lemma 5.2",
        "drawing again until it represents the data or a neighbour keeps (ln (γ+1)/(1−p), p)-pdp",
        "≤ p",
        judges.never_above("disclosure_over_p", "Lemmas 5.1 and 5.2", 1),
    ),
    (
        "section V-A",
        "good outputs satisfy m_i ≤ γ (n_i + 1 + α_i)",
        "–",
        judges.never_above("beyond_counts", "Lemmas 5.1 and 5.2", 0),
    ),
    (
        "section V-A",
        "accept/reject halts after at most 1/(1 − p) draws on average",
        "≤ 1/(1 − p)",
        judges.never_above("draws", "Lemmas 5.1 and 5.2", 1),
    ),
    ("Theorem 5.1", "coarsening the domain keeps the promise", "–", judges.never_above("ratio", "Theorem 5.1", 1)),
    (
        "Theorem 5.2",
        "for pure ε, dropping empty blocks keeps ε + ln 1/f + ⌈α⌉ ln 2",
        "≤ e^ε′",
        judges.never_above("ratio", "Theorem 5.2, pure ε", 1),
    ),
)
DROPPING = about(
    "theorem-5.2",
    (
        "Theorem 5.2",
        "with α from Theorem 4.4, dropping empty blocks keeps (ε′, δ)-pdp",
        "≤ δ",
        judges.dropping,
        "α was calibrated with all blocks in the prior; dropping shrinks it, and a block with nobody is drawn more "
        "often than the calibration assumed. The repair calibrates on the blocks that are kept.",
    ),
)
ALPHAS = (
    *about(
        "alphas",
        ("section VI", "120,690 blocks need a least α of 0.039764", "0.039764", judges.alpha(120_690, 0.039764)),
        (
            "section VI",
            "233,726 blocks need a least α of 0.01245",
            "0.01245",
            judges.alpha(233_726, 0.01245),
            "The theorem asks for about 0.0385. The printed prior is too small for the printed ε.",
        ),
        (
            "section IV-B",
            "the prior sample is very small compared to the data",
            "–",
            judges.small_prior,
            "Each α is small, but there is one for each of 120,690 blocks, and some 15 workers.",
        ),
        ("section IV-B", "α need not grow faster than √(n ln n)", "–", judges.growth),
    ),
    *about(
        "printed-alphas",
        ("section VI", "α = 0.039764 is enough for ε = 4.6", "4.6", judges.buys(120_690)),
        ("section VI", "α = 0.01245 is enough for ε = 4.6", "4.6", judges.buys(233_726), "It buys ε = 5.49 and more."),
    ),
)
MINNESOTA = "Minnesota's commuters are not at hand; Rhode Island's travel less far."
FLOWS = (
    *about(
        "data",
        (
            "section VI",
            "many pairs of blocks have one commuter only",
            "–",
            lambda rows: at_least(
                rows.of("singletons", "Rhode Island"),
                0.5,
                f"{rows.of('singletons', 'Rhode Island').text(percent=True)} of the pairs in Rhode Island",
            ),
        ),
        *(
            (
                "section VI",
                f"{share}% of commutes are below {miles} miles",
                f"{miles}",
                judges.elsewhere(f"miles_{share}", "miles"),
                MINNESOTA,
            )
            for share, miles in MILES.items()
        ),
        (
            "section VI",
            "a destination block has 15 workers on average",
            "15",
            judges.elsewhere("workers", "workers"),
            "Minnesota's commuters are not at hand; half of Rhode Island's destinations have at most 8 workers.",
        ),
    ),
    *about(
        "bias",
        ("section VI, figure 1", "long commutes are overestimated", "–", judges.overestimated("bias", judges.STATE)),
        (
            "section VI, figure 1",
            "most so where a destination has few workers, and less with more of them",
            "–",
            judges.fewer_workers("bias"),
        ),
        ("section VI, figure 2", "short commutes match better", "–", judges.matches_better),
        (
            "section VI, figure 2",
            "short commutes are slightly underestimated",
            "below 0",
            judges.underestimated,
            "Synthetic commuters are spread over all blocks within 6.23 miles, of which most lie at the far end.",
        ),
        (
            "section VI, figure 2",
            "the error of short commutes falls with the number of workers",
            "–",
            judges.fewer_workers("short_error"),
        ),
        ("section VI, figure 3", "the smaller domain has a smaller error", "–", judges.narrower("error")),
        (
            "section VI, figure 3",
            "the smaller domain has a smaller bias for all destinations",
            "–",
            judges.at_all_sizes,
            "For destinations with few workers it has. For the others it is a little larger within 14 miles: f keeps "
            "few of the far blocks in the first place, so there is little to cut.",
        ),
        (
            "section VI, figure 3",
            "commutes are overestimated in the smaller domain too",
            "–",
            judges.overestimated("bias", judges.NEAR),
        ),
        (
            "section VI, figure 4",
            "the smaller domain does not harm short commutes",
            "–",
            judges.narrower("short_error"),
        ),
    ),
)
STATEMENTS = (
    *WORKED,
    *THEOREMS,
    *DROPPING,
    *ALPHAS,
    *FLOWS,
    Statement(
        place="section VI",
        says="experiment 1 adds 419 synthetic workers to the prior of each destination",
        printed="419",
        why="f and the commutes it was made from are not printed. With the printed α and f between 0.0378 and 1 the "
        "prior has between 110 and 2,910 workers.",
    ),
    Statement(
        place="Theorem 4.2",
        says="α that grows faster than ln n is enough for (ε, δ)-indistinguishability with a negligible δ",
        why="A limit of large n; no finite table decides it.",
    ),
)
