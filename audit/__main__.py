"""Audit every differentially private method: `python -m audit [part ...]`; exit code 1 if anything is amiss.

Parts: `exact` (transcripts on worst-case neighbours), `enumeration` (all outputs, where they are finitely many),
`empirical` (lower bounds on ε from many runs), `twins` (broken methods, which must be caught), `black-box` (files in,
folders out, the best attack on what is published, and twins of what lies around the methods), `urns` (how often draws
of synthetic values disclose), `intervals` (whether the true counts lie in those that releases answer with),
`conjecture` (whether any channel beats geometric noise), `coverage` (whether intervals of estimates from reports hold
the truth as often as they say), `laplace` and `smoothing` (what noise and estimate cost) and `one-run` (whether
audits by one run contradict true claims, and find false ones). Without `--seed` the noise is the operating system's,
and a right method fails the empirical part with probability 0.001 at most, all methods together; so do the urns, and
each method in the audits by one run.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
from concurrent.futures import ProcessPoolExecutor

from audit.cases import CASES, quick
from audit.empirical import FAILING
from audit.parts import PARTS, enumerated_lines

ALL = ("exact", "enumeration", *(part for part in PARTS if part != "exact"))


def main() -> int:
    """Run the named parts, or all."""
    parser = argparse.ArgumentParser(prog="python -m audit")
    parser.add_argument("--seed", type=int, help="repeat an audit; without it, noise is the operating system's")
    parser.add_argument("parts", nargs="*", choices=[*ALL, []], default=[])
    chosen = parser.parse_args()
    amiss = 0
    with ProcessPoolExecutor(os.cpu_count(), multiprocessing.get_context("spawn")) as pool:
        for part in chosen.parts or ALL:
            print(f"\n{part}", flush=True)
            if part == "enumeration":
                with quick():
                    lines = list(enumerated_lines())
            else:
                line, count = PARTS[part]
                lines = pool.map(line, range(count), [chosen.seed] * count)
            for found in lines:
                amiss += not found.right
                print(f"{'right' if found.right else 'AMISS'}  {found.what}: {found.found}", flush=True)
    print(f"\nempirical bounds hold with probability {1 - FAILING:.1%}, all {len(CASES)} of them together")
    return 1 if amiss else 0


if __name__ == "__main__":
    sys.exit(main())
