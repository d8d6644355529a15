"""Run the benchmarks: `python -m benchmarks --peers PYTHON [name ...]`; exit code 1 if a target is missed."""

from __future__ import annotations

import argparse
import sys

from benchmarks import scale, speed, whole

BENCHMARKS = {
    "start": whole.start,
    "mondrian": speed.mondrian,
    "frontier": whole.frontier,
    "scale": scale.scale,
    "requirements": speed.requirement_checks,
}


def main() -> int:
    """Run the named benchmarks, or all."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--peers", default=sys.executable, help="a Python with anonypy and pycanon installed")
    parser.add_argument("names", nargs="*", choices=[*BENCHMARKS, []], default=[])
    chosen = parser.parse_args()
    missed = 0
    for name in chosen.names or BENCHMARKS:
        for result in BENCHMARKS[name](chosen.peers):
            missed += not result.met
            verdict = "met   " if result.met else "MISSED"
            asked = f" (asked {result.asked})" if result.asked else ""
            print(f"{verdict}  {result.what}: {result.got}{asked}", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
