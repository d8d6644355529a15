"""What was measured, as the document that pages and tables are made of: statements judged by the rows they name."""

from collections.abc import Sequence

from sfumato.report.reproduction.document import ExperimentEntry, PaperEntry, Reproduction, StatementEntry
from sfumato.reproduce.experiment import Experiment
from sfumato.reproduce.paper import Paper
from sfumato.reproduce.rows import NotMeasuredError, Rows
from sfumato.reproduce.running import Plan
from sfumato.reproduce.statement import Finding, Statement

NOT_MEASURED = "not measured in this run"


def reproduction(plan: Plan) -> Reproduction:
    """The document of a plan whose runs are stored."""
    papers: dict[str, list[Experiment]] = {}
    known: dict[str, Paper] = {}
    for paper, experiment in plan.chosen:
        papers.setdefault(paper.name, []).append(experiment)
        known[paper.name] = paper
    return Reproduction(
        quick=plan.mode.quick,
        first_seed=plan.mode.first_seed,
        papers=[_paper(plan, known[name], chosen) for name, chosen in papers.items()],
    )


def _paper(plan: Plan, paper: Paper, chosen: Sequence[Experiment]) -> PaperEntry:
    rows = {experiment.name: plan.rows(paper, experiment) for experiment in chosen}
    whole = len(chosen) == len(paper.experiments)
    return PaperEntry(
        name=paper.name,
        title=paper.title,
        reference=paper.reference,
        stand_in=paper.stand_in,
        experiments=[
            ExperimentEntry(
                name=one.name,
                title=one.title,
                shows=one.shows,
                command=paper.command(one.name),
                panels=one.panels,
                rows=rows[one.name],
            )
            for one in chosen
        ],
        statements=[
            _judged(plan, paper, one, Rows([row for row in rows.get(one.experiment, []) if row.values]))
            for one in paper.statements
            if one.experiment in rows or (whole and one.judge is None)
        ],
    )


def _judged(plan: Plan, paper: Paper, statement: Statement, rows: Rows) -> StatementEntry:
    finding = judge(statement, rows, quick=plan.mode.quick)
    return StatementEntry(
        paper=paper.name,
        place=statement.place,
        says=statement.says,
        printed=statement.printed,
        measured=finding.measured,
        verdict=finding.verdict,
        why=statement.why,
        command=paper.command(statement.experiment),
        experiment=statement.experiment,
    )


def judge(statement: Statement, rows: Rows, *, quick: bool = False) -> Finding:
    """What the rows say of a statement; a quick run leaves many of them out, and small samples refuse some settings."""
    if statement.judge is None:
        return Finding("–", "open")
    try:
        return statement.judge(rows)
    except (LookupError, ValueError) as error:
        if quick or isinstance(error, NotMeasuredError):
            return Finding(NOT_MEASURED, "open")
        raise
