"""Run the benchmarks: `python -m benchmarks --peers PYTHON [name ...]`; exit code 1 if a target is missed."""

from __future__ import annotations

import argparse
import sys

from benchmarks import (
    answers,
    collecting,
    commuting,
    fineness,
    linkage,
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
        for result in BENCHMARKS[name](peers):
            missed += not result.met
            verdict = "met   " if result.met else "MISSED"
            asked = f" (asked {result.asked})" if result.asked else ""
            print(f"{verdict}  {result.what}: {result.got}{asked}", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
