"""What releases are for: queries of one's own, and a column to predict."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import sfumato as sf
from brute_force import small_table
from sfumato.errors import ParameterError, QueryError
from sfumato.methods import FullSuppression, Mondrian, Original
from sfumato.trials.frontier import frontier
from sfumato.trials.purpose import COUNTS, OwnQueries, Prediction, percent, purpose_of

if TYPE_CHECKING:
    from pathlib import Path

TABLE = small_table()
TEXTS = ("age >= 30", "sex = f and illness in (a, b)", "region = north")


def test_the_error_of_ones_own_queries_by_hand() -> None:
    """Suppressing everything spreads 90 people evenly over 30 ages: 60 of them are 30 or older."""
    ages = OwnQueries(texts=("age >= 30",))
    release = FullSuppression().publish(TABLE)
    truth = int(TABLE.weights[TABLE.points[:, 0] >= 10].sum())
    found = ages.measure_more(TABLE, FullSuppression(), release, 1)
    assert found == {"own_query_error": pytest.approx(abs(60 - truth) / truth)}
    exact = OwnQueries(texts=TEXTS).measure_more(TABLE, Original(), Original().publish(TABLE), 1)
    assert exact["own_query_error"] == pytest.approx(0, abs=1e-12)


def test_a_count_of_nobody_is_compared_with_one_person() -> None:
    nobody = OwnQueries(texts=("age = 20 and age = 21",))
    assert nobody.measure_more(TABLE, FullSuppression(), FullSuppression().publish(TABLE), 1) == {"own_query_error": 0}


def test_queries_come_from_a_file_and_are_checked_before_anything_is_tried(tmp_path: Path) -> None:
    path = tmp_path / "queries.txt"
    path.write_text("# what the office asks\n\n" + "\n".join(TEXTS) + "\n", encoding="utf-8")
    assert purpose_of(None, path) == purpose_of(None, TEXTS) == OwnQueries(texts=TEXTS)
    path.write_text("# nothing\n", encoding="utf-8")
    with pytest.raises(ParameterError, match="there are no queries in it"):
        OwnQueries.load(path)
    with pytest.raises(QueryError, match="query 2, height > 3: "):
        frontier(TABLE, [Mondrian(k=5)], queries=["age > 3", "height > 3"])
    with pytest.raises(ParameterError, match="no column 'height' to predict"):
        frontier(TABLE, [Mondrian(k=5)], predict="height")
    with pytest.raises(ParameterError, match="not both"):
        purpose_of("age", TEXTS)
    assert purpose_of(None, None) is COUNTS


def test_what_recipients_do_is_told_to_methods_that_make_use_of_it() -> None:
    chosen = sf.Synthesis(epsilon=2)
    front = frontier(TABLE, [sf.Synthesis, sf.Mondrian], queries=TEXTS)
    told = [trial.method for trial in front.trials if isinstance(trial.method, sf.Synthesis)]
    assert told
    assert all(method.queries == TEXTS for method in told)
    assert purpose_of("sex", None).told(chosen) == sf.Synthesis(epsilon=2, predict="sex")
    assert purpose_of(None, None).told(chosen) == chosen
    assert purpose_of(None, TEXTS).told(sf.Mondrian(k=3)) == sf.Mondrian(k=3)
    given = frontier(TABLE, [chosen], queries=TEXTS)
    assert chosen in [trial.method for trial in given.trials]


@pytest.mark.parametrize("column", ["illness", "sex"])
def test_learning_from_the_rows_loses_nothing_and_from_nothing_everything(column: str) -> None:
    pytest.importorskip("sklearn")
    table = small_table(rows=300)
    purpose = Prediction(column=column)
    exact = purpose.measure_more(table, Original(), Original().publish(table), 1)
    nothing = purpose.measure_more(table, FullSuppression(), FullSuppression().publish(table), 1)
    if column == "illness":
        assert exact["prediction_loss"] == pytest.approx(0, abs=1e-9)
        assert nothing["prediction_loss"] == pytest.approx(1, abs=1e-9)
    assert 0 <= exact["prediction_loss"] <= nothing["prediction_loss"] <= 1


def test_a_column_about_which_nothing_can_be_learned_is_refused() -> None:
    """A release that loses nothing of nothing used to be recommended, whatever it was."""
    pytest.importorskip("sklearn")
    with pytest.raises(ParameterError, match="nothing to speak of can be learned about 'region'"):
        frontier(small_table(rows=300), [Mondrian(k=5)], predict="region", workers=1)
    loss = Prediction(column="region").measure_more(TABLE, FullSuppression(), FullSuppression().publish(TABLE), 1)
    assert loss == {"prediction_loss": 1.0}


def test_what_a_tree_cannot_learn_another_learner_may() -> None:
    """Twenty columns of coins, of which most must be heads: a pruned tree is lost, a plane is not."""
    pytest.importorskip("sklearn")
    generator = np.random.default_rng(2)
    coins = generator.random((600, 20)) < 0.5
    columns = {f"coin {place}": coins[:, place].tolist() for place in range(20)}
    spec = {name: {"role": "quasi", "kind": "categorical", "values": ["false", "true"]} for name in columns}
    spec["win"] = {"role": "sensitive", "kind": "categorical", "values": ["no", "yes"]}
    table = sf.read({**columns, "win": np.where(coins.sum(axis=1) > 10, "yes", "no").tolist()}, {"columns": spec})
    tree, both = Prediction(column="win", learners=("c4.5",)), Prediction(column="win")
    release = sf.Mondrian(k=3, recoding="bucketize").publish(table)
    losses = [one.measure_more(table, sf.Mondrian(k=3, recoding="bucketize"), release, 1) for one in (tree, both)]
    assert losses[0] != losses[1]
    accuracies = [one._learned(table, Original(), 1).baseline for one in (tree, both)]
    assert accuracies[1] > accuracies[0] + 0.1


def test_a_frontier_is_judged_by_its_purpose_and_stored_apart(tmp_path: Path) -> None:
    settings = [Mondrian(k=3), Mondrian(k=10)]
    own = frontier(TABLE, settings, queries=TEXTS, folder=tmp_path, workers=1)
    assert own.pair == ("disclosure_added", "own_query_error")
    assert all("own_query_error" in trial.measures for trial in own.trials)
    usual = frontier(TABLE, settings, folder=tmp_path, workers=1)
    assert all("own_query_error" not in trial.measures for trial in usual.trials)
    assert len((tmp_path / "trials.jsonl").read_text().splitlines()) == 8
    assert frontier(TABLE, settings, queries=TEXTS, folder=tmp_path, workers=1).trials == own.trials
    best = own.recommend(max_p_loss=float("inf"))
    assert "of your 3 counts is off by" in " ".join(best.why)
    assert "own_query_error" in {verdict.measure for verdict in best.verdicts}


@pytest.mark.parametrize(
    ("share", "text"), [(0, "0%"), (1e-9, "0%"), (0.00123, "0.123%"), (0.0456, "4.56%"), (1.5, "150%"), (75, "7,500%")]
)
def test_shares_in_words(share: float, text: str) -> None:
    assert percent(share) == text
