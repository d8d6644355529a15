"""Run the benchmarks: `python -m benchmarks --peers PYTHON [name ...]`; exit code 1 if a target is missed.

What each of them finds is shown as it comes, and stands in docs/benchmarks.md when it is through.
"""

from __future__ import annotations

import argparse
import sys

from benchmarks import (
    answers,
    collecting,
    commuting,
    fineness,
    linkage,
    page,
    paper,
    pilots,
    private,
    recommendations,
    scale,
    spark,
    speed,
    synthesis,
    whole,
)

BENCHMARKS = {
    "start": whole.start,
    "mondrian": speed.mondrian,
    "fineness": fineness.fineness,
    "frontier": whole.frontier,
    "scale": scale.scale,
    "spark": spark.spark,
    "requirements": speed.requirement_checks,
    "noise": private.noise,
    "diffmulti": private.diffmulti,
    "queries": private.queries,
    "privbayes": private.privbayes,
    "answers": answers.answers,
    "synthesis": synthesis.synthesis,
    "opendp": synthesis.opendp,
    "pilots": pilots.pilots,
    "recommendations": recommendations.recommendations,
    "linkage": linkage.linkage,
    "paper": paper.paper,
    "commuting": commuting.commuting,
    "local": collecting.collecting,
}

PRIVATE = ("privbayes", "synthesis", "linkage")
"""Benchmarks whose peers need other versions of shared libraries."""


def main() -> int:
    """Run the named benchmarks, or all."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--peers", default=sys.executable, help="a Python with anonypy, pycanon and opendp installed")
    parser.add_argument("--private-peers", default=sys.executable, help="a Python with dpmm and anonymeter installed")
    parser.add_argument("names", nargs="*", choices=[*BENCHMARKS, []], default=[])
    chosen = parser.parse_args()
    missed = 0
    for name in chosen.names or BENCHMARKS:
        peers = chosen.private_peers if name in PRIVATE else chosen.peers
        results = []
        for result in BENCHMARKS[name](peers):
            results.append(result)
            missed += not result.met
            verdict = "met   " if result.met else "MISSED"
            asked = f" (asked {result.asked})" if result.asked else ""
            print(f"{verdict}  {result.what}: {result.got}{asked}", flush=True)
        page.write_section(name, results, (BENCHMARKS[name].__doc__ or "").partition("\n\n")[0])
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
