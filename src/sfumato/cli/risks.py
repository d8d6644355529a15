"""What a release tells about its own people beyond a control group, as `sfumato measure --control` shows it."""

from sfumato.cli.show import INDENT, explained, heading, say
from sfumato.measures.attacks.risks import RISKS, Risks

HEADING = "Risks: what is guessed right about people of the table beyond people who were never in it"


def show_risks(risks: Risks) -> None:
    """Print every risk with both shares, and what it means; those that say nothing of this release are named."""
    heading(HEADING)
    explained(
        (
            (
                RISKS[name].title,
                f"{risk.difference:+.1%}",
                f"{risk.interval[0]:+.1%} to {risk.interval[1]:+.1%}",
                f"{risk.success:.1%} of {risk.guesses:,} guesses, control {risk.control:.1%}",
            ),
            RISKS[name].sentence,
        )
        for name, risk in risks.items()
    )
    if absent := [about.title for name, about in RISKS.items() if name not in risks]:
        say(f"Not applicable to this release: {', '.join(absent)}.", indent=INDENT)
    say("Intervals hold the difference with 95% confidence; one that is above zero shows a leak.", indent=INDENT)
