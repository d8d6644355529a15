"""Anonymeter's risks of synthetic rows; prints the seconds, the right guesses and all guesses of each as a line."""

import sys
import time
import warnings

import pandas as pd
from anonymeter.evaluators import InferenceEvaluator, LinkabilityEvaluator, SinglingOutEvaluator

warnings.simplefilter("ignore")
training_path, release_path, control_path, guesses, first = sys.argv[1:]
training, release, control = (pd.read_csv(path) for path in (training_path, release_path, control_path))
count, (*known, secret) = int(guesses), list(training.columns)
halves = first.split(","), [name for name in training.columns if name not in first.split(",")]


def singling_out(rows, made, others, mode, columns):
    found = SinglingOutEvaluator(
        ori=rows, syn=made, control=others, n_attacks=count, n_cols=columns, seed=1, max_attempts=1_000_000
    )
    return found.evaluate(mode=mode)


def linkability(rows, made, others, wanted):
    found = LinkabilityEvaluator(ori=rows, syn=made, control=others, n_attacks=wanted, aux_cols=halves, n_neighbors=1)
    return found.evaluate(n_jobs=-1)


def inference(rows, made, others, wanted):
    found = InferenceEvaluator(ori=rows, syn=made, control=others, aux_cols=known, secret=secret, n_attacks=wanted)
    return found.evaluate(n_jobs=-1)


# Compiled before anything is timed.
for attack in (inference, linkability):
    attack(training[:50], release[:50], control[:50], 10)
attacks = {
    "inference": lambda: inference(training, release, control, count),
    "linkability": lambda: linkability(training, release, control, count),
    "singling_out_by_one": lambda: singling_out(training, release, control, "univariate", 1),
    "singling_out": lambda: singling_out(training, release, control, "multivariate", 3),
}
for name, attack in attacks.items():
    started = time.perf_counter()
    found = attack().results()
    seconds = time.perf_counter() - started
    print(name, seconds, found.n_success, found.n_control, found.n_attacks_ori, found.n_attacks_control, flush=True)
