"""The learners, over scikit-learn: trees in the manner of C4.5 and ID3, a linear SVM, gradient boosting.

Both trees split in two at the greatest information gain, a category against all others; Quinlan's split a category
into as many branches as it has values, C4.5 by gain ratio. `c4.5` keeps at least two rows in a leaf and prunes by
the pessimistic error as C4.5 does, without raising subtrees; `id3` grows until leaves are pure.
Every learner is deterministic, runs on one thread and weighs its examples.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import betaincinv

from sfumato.errors import ParameterError

Learner = Literal["c4.5", "id3", "svm", "boosting"]
Predictor = Callable[["NDArray[np.float64]"], "NDArray[np.int64]"]
INSTALL = 'learning, clustering and their measures need scikit-learn; install it with: pip install "sfumato[learning]"'

MIN_LEAF = 2.0
CONFIDENCE = 0.25
SLACK = 0.1
"""C4.5's defaults: rows in a leaf, confidence level of pruning, and errors by which a leaf may be worse."""
ROUNDING = 1e-9
BOOSTING_LEAF, BOOSTING_LEAVES, SHRINKAGE = 20, 15, 1.0
"""Rows in a leaf, leaves of a tree, and how far leaf values are drawn to zero: without it rare classes run away."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Examples:
    """What a learner sees: features, a class and a positive weight for each example."""

    features: NDArray[np.float64]
    classes: NDArray[np.int64]
    weights: NDArray[np.float64]


def learn(learner: Learner, examples: Examples, seed: int) -> Predictor:
    """A function from features to the class that is predicted there; there must be examples of two classes."""
    require_library()
    return _LEARNERS[learner](examples, seed)


def require_library() -> None:
    """Say what to install where scikit-learn is missing."""
    try:
        import sklearn  # noqa: F401
    except ImportError as error:
        raise ParameterError(INSTALL) from error


def _c45(examples: Examples, seed: int) -> Predictor:
    share = min(MIN_LEAF * (1 - ROUNDING) / examples.weights.sum(), 0.5)
    tree = _grow_tree(examples, seed, min_weight_fraction_leaf=share)
    prediction = tree.classes_[prune(tree.tree_)]
    return lambda features: np.asarray(prediction[tree.apply(features)])


def _id3(examples: Examples, seed: int) -> Predictor:
    tree = _grow_tree(examples, seed)
    return lambda features: np.asarray(tree.predict(features))


def _grow_tree(examples: Examples, seed: int, **settings: float) -> Any:
    from sklearn.tree import DecisionTreeClassifier

    tree = DecisionTreeClassifier(criterion="entropy", random_state=seed, **settings)
    return tree.fit(examples.features, examples.classes, sample_weight=examples.weights)


def prune(tree: Any) -> NDArray[np.int64]:
    """For every node, the class (by number) that the tree predicts there once it is pruned.

    From the leaves up, a subtree gives way to a leaf that is expected to make at most `SLACK` more errors. Of N rows
    with E errors a leaf is expected to get N·U wrong, where U solves Pr[at most E of N | U] = `CONFIDENCE`.
    """
    rows = tree.weighted_n_node_samples
    counts = tree.value[:, 0, :] * rows[:, None]
    errors = np.maximum(rows - counts.max(axis=1), 0)
    as_leaf = rows * betaincinv(errors + 1, np.maximum(rows - errors, ROUNDING), 1 - CONFIDENCE)
    expected, left, right = as_leaf.tolist(), tree.children_left.tolist(), tree.children_right.tolist()
    stops = [True] * tree.node_count
    for node in range(tree.node_count - 1, -1, -1):  # Children have higher numbers than their parent.
        if left[node] < 0:
            continue
        below = expected[left[node]] + expected[right[node]]
        if expected[node] > below + SLACK:
            expected[node], stops[node] = below, False
    answer = counts.argmax(axis=1).tolist()
    for node in range(tree.node_count):
        if left[node] >= 0 and stops[node]:
            answer[left[node]] = answer[right[node]] = answer[node]
            stops[left[node]] = stops[right[node]] = True
    return np.array(answer)


def _svm(examples: Examples, seed: int) -> Predictor:
    from sklearn.svm import LinearSVC

    machine = LinearSVC(dual=False, max_iter=10_000, random_state=seed)
    machine.fit(csr_array(examples.features), examples.classes, sample_weight=examples.weights)
    return lambda features: np.asarray(machine.predict(features))


def _boosting(examples: Examples, seed: int) -> Predictor:
    from sklearn.ensemble import HistGradientBoostingClassifier
    from threadpoolctl import threadpool_limits

    rows_per_example = max(examples.weights.mean(), 1.0)
    leaf = max(round(BOOSTING_LEAF / rows_per_example), 1)
    model = HistGradientBoostingClassifier(
        early_stopping=False,
        min_samples_leaf=leaf,
        max_leaf_nodes=BOOSTING_LEAVES,
        l2_regularization=SHRINKAGE,
        random_state=seed,
    )
    # Threads would add up in an order of their own, and waiting for each other can take a hundred times longer.
    with threadpool_limits(limits=1):
        model.fit(examples.features, examples.classes, sample_weight=examples.weights)

    def predict(features: NDArray[np.float64]) -> NDArray[np.int64]:
        with threadpool_limits(limits=1):
            return np.asarray(model.predict(features))

    return predict


_LEARNERS: dict[Learner, Callable[[Examples, int], Predictor]] = {
    "c4.5": _c45,
    "id3": _id3,
    "svm": _svm,
    "boosting": _boosting,
}
