"""A process that tries settings: reads them as lines of JSON, answers each with the finished trial.

Started as `python -m sfumato.trials.worker TABLE`, so that it works from scripts and notebooks alike and
shares no threads with its parent.
"""

from __future__ import annotations

import json
import pickle
import signal
import sys
from pathlib import Path

from sfumato.data import Table
from sfumato.methods import make_method
from sfumato.trials.trial import run_trial


def main() -> None:
    """Serve until the parent closes the pipe."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Whatever a library prints must not come between the answers.
    answers, sys.stdout = sys.stdout, sys.stderr
    table: Table = pickle.loads(Path(sys.argv[1]).read_bytes())
    for line in sys.stdin:
        wanted = json.loads(line)
        trial = run_trial(table, make_method(wanted["method"], wanted["parameters"]))
        print(json.dumps(trial.spec()), file=answers, flush=True)


if __name__ == "__main__":
    main()
