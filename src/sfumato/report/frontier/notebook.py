"""The frontier as the public face gives it: that of the trials, with a chart.

Trials know no drawing library, so what draws them is added here, a layer above. Altair is loaded by the first chart.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import wraps
from typing import Any, ParamSpec

from sfumato.trials import frontier as trials
from sfumato.trials.recommendation import Recommendation

Parameters = ParamSpec("Parameters")


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Frontier(trials.Frontier):
    """All trials of a table that gave a release, and those the table refused.

    >>> front = sf.frontier(table, [sf.Mondrian(k=5), sf.Mondrian(k=20)])
    >>> front.to_polars().height
    4
    >>> chart = front.chart(privacy="breach", utility="query_error")
    >>> saved = front.recommend(max_p_loss=0.6, max_query_error=1).save("release")
    """

    def chart(
        self, privacy: str | None = None, utility: str | None = None, recommendation: Recommendation | None = None
    ) -> Any:
        """Every release by a privacy and a utility measure as an Altair chart, a recommended one in a ring."""
        from sfumato.report.frontier.chart import frontier_chart

        document = trials.frontier_document(self, recommendation)
        return frontier_chart(document, privacy or self.pair[0], utility or self.pair[1])


def _drawable(find: Callable[Parameters, trials.Frontier]) -> Callable[Parameters, Frontier]:
    @wraps(find)
    def found(*args: Parameters.args, **options: Parameters.kwargs) -> Frontier:
        plain = find(*args, **options)
        return Frontier(**{part.name: getattr(plain, part.name) for part in fields(plain)})

    return found


frontier = _drawable(trials.frontier)
