"""What alhussaeni2018 states that can be checked, and by which rows."""

from sfumato.reproduce.alhussaeni2018 import judges
from sfumato.reproduce.alhussaeni2018.judges import each_variant
from sfumato.reproduce.statement import Finding, about, at_least, prints

TAXONOMIES = "The paper's taxonomies are not printed; those of ARX are lower."
HARDWARE = "Another program on another machine, eight years later."
DECAY = "Once rows bear no further cuts, a larger h changes nothing: what counts are the specializations really made."

EXAMPLES = (
    *about(
        "table-2",
        ("Table II", "Adult has 45,222 records", "45,222", prints(45_222, 0, "rows", "Adult")),
        ("Table II", "6 attributes are numerical", "6", prints(6, 0, "numeric", "Adult")),
        ("Table II", "8 attributes are categorical", "8", prints(8, 0, "categorical", "Adult")),
        (
            "section 5",
            "the heights of the eight taxonomies sum to 21",
            "21",
            lambda rows: Finding(f"{rows.of('heights', 'Adult')}", "open"),
            TAXONOMIES,
        ),
        (
            "section 5",
            "the longest path is 63",
            "63",
            lambda rows: Finding(f"{rows.of('longest_path', 'Adult')}", "open"),
            TAXONOMIES,
        ),
        (
            "section 5",
            "DiffGen can make nearly 50 specializations of categorical values",
            "50",
            lambda rows: Finding(f"{rows.of('by_value', 'Adult')}", "open"),
            TAXONOMIES,
        ),
        (
            "section 5, Equation 14",
            "DiffMulti could make millions of specializations",
            "millions",
            lambda rows: at_least(rows.of("by_region", "Adult"), 1e6),
        ),
        ("Example 4.4", "the dense part of 8 of 10 records gets 16 of 20", "16", prints(16, 0, "dense", "Example 4.4")),
        ("Example 4.4", "the sparse part of 2 gets 4", "4", prints(4, 0, "sparse", "Example 4.4")),
    ),
    *about(
        "privacy",
        (
            "section 4.4",
            "DiffMulti is ε-differentially private",
            "≤ e^ε",
            judges.impossible,
            "Equation 10 gives an exactly empty part no specializations, so some boxes are published only if a certain "
            "person is there. The repaired algorithm decides from noisy counts alone.",
        ),
    ),
    *about(
        "heights",
        ("section 5", "the height that numeric taxonomies are taken to have does not matter much", "–", judges.unmoved),
    ),
)
PENALTIES = (
    *about(
        "figure-5",
        (
            "section 5.1, figure 5",
            "DiffMulti's discernibility penalty is at least ten times below DiffGen's",
            "10 times",
            judges.times_less("dm", 10),
        ),
        (
            "section 5.1, figure 5",
            "the penalty does not change significantly with h",
            "–",
            judges.robust("dm"),
            "It falls as more specializations are made.",
        ),
    ),
    *about(
        "figure-6",
        (
            "section 5.1, figure 6",
            "DiffMulti's NCP is significantly below DiffGen's",
            "–",
            judges.times_less("ncp", 1.1),
        ),
        ("section 5.1, figure 6", "NCP does not change significantly with h", "–", judges.robust("ncp")),
    ),
)
ACCURACY = (
    *about(
        "figure-7",
        ("section 5.1, figure 7", "accuracy rises with ε", "–", each_variant(judges.by_epsilon)),
        ("section 5.1, figure 7", "accuracy falls as h grows", "–", each_variant(judges.falls_with_h), DECAY),
    ),
    *about(
        "figure-8",
        (
            "section 4.2",
            "h specializations are made, up to h = 1,000",
            "h",
            each_variant(judges.as_asked(1_000)),
            "As printed, noise of scale 1/ε′, hundreds of records, decides which parts go on.",
        ),
        (
            "section 5.1, figure 8",
            "DiffMulti is more accurate than DiffGen for h up to 10,000",
            "–",
            judges.above_diffgen,
        ),
        (
            "section 5.1, figure 8",
            "for large h Mondrian with k = 60 is better by up to 2 points",
            "2 points",
            judges.mondrian_ahead,
        ),
        ("section 5.1, figure 8", "for small h DiffMulti is better than Mondrian", "–", judges.ahead_of_mondrian),
        (
            "section 5.1, figure 8",
            "accuracy falls from h = 1,000 to 10,000",
            "–",
            each_variant(judges.falls_to_10k),
            DECAY,
        ),
        ("section 5.1, figure 8", "accuracy decays for h above 10,000", "–", each_variant(judges.falls_beyond), DECAY),
        (
            "section 5.1",
            "accuracy lies between the lower bound and that of the raw data",
            "–",
            each_variant(judges.between_bounds),
        ),
    ),
    *about(
        "figure-9",
        ("section 5.1, figure 9", "DiffMulti is slightly more accurate than DPCube", "–", judges.leads("DPCube")),
        ("section 5.1, figure 9", "in some cases it is more accurate than the raw data", "–", judges.above_raw),
    ),
    *about(
        "figure-10",
        (
            "section 5.1, figure 10",
            "DiffMulti is more accurate than PrivBayes at every ε",
            "–",
            judges.leads("PrivBayes"),
        ),
    ),
    *about(
        "rps",
        ("section 5.1", "the accuracy of the raw data is 82.96%", "82.96%", judges.raw_rps),
        ("section 5.1", "RPS reaches 79%", "79%", judges.rps_accuracy, "Taken by the paper from that of RPS."),
        ("section 5.1", "DiffMulti reaches 81.54% at h = 1,000", "81.54%", judges.reaches(0.8154)),
        ("section 5.1", "DiffMulti is more accurate than RPS", "+2.54 points", judges.above_rps),
    ),
)
CLUSTERS = about(
    "figure-11",
    (
        "section 5.1, figure 11",
        "Match Point is at least 90% where cuts follow the clusters",
        "90%",
        judges.match_points,
    ),
    (
        "section 5.1, figure 11",
        "cuts that follow DM keep clusters significantly worse",
        "–",
        judges.contrast,
        "Sex and marital status decide between two clusters of Adult, and fair cuts separate these too.",
    ),
    ("section 5.1, figure 11", "Match Point falls as h grows", "–", judges.match_falls, DECAY),
)
SPEED = (
    *about(
        "figure-12",
        (
            "section 5.2, figure 12",
            "100,000 specializations take about 30 s",
            "30 s",
            each_variant(judges.seconds_at(100_000, 30)),
            HARDWARE,
        ),
        ("section 5.2, figure 12", "seconds hardly grow with h", "–", each_variant(judges.insensitive)),
        (
            "section 5.2, figure 12",
            "DiffMulti takes a few seconds longer than DiffGen",
            "–",
            judges.longer_than_diffgen,
            HARDWARE,
        ),
        ("section 5.2", "Mondrian takes longer, minutes to an hour", "minutes", judges.slower("Mondrian"), HARDWARE),
        ("section 5.2", "PrivBayes takes longer", "minutes", judges.slower("PrivBayes"), HARDWARE),
    ),
    *about(
        "figure-13",
        (
            "section 5.2, figure 13",
            "a million records take less than 120 s",
            "120 s",
            each_variant(judges.million),
            HARDWARE,
        ),
        (
            "section 5.2, figure 13",
            "seconds grow in proportion to the records",
            "–",
            each_variant(judges.nearly_linear),
        ),
    ),
)
STATEMENTS = (*EXAMPLES, *PENALTIES, *ACCURACY, *CLUSTERS, *SPEED)
