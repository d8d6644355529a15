"""`sfumato local serve`: collect reports from browsers and other clients."""

import secrets
from contextlib import closing
from pathlib import Path

from typer import Argument, Option

from sfumato.cli.show import note, say
from sfumato.collect.survey import HUNDRED, MAX_IN_BROWSER, Survey, read_survey

EXAMPLE = "sfumato local serve age.toml --database reports.db"


def command(
    surveys: list[Path] | None = Argument(None, metavar="[SURVEY]...", help="Surveys to open: TOML files."),
    database: str = Option(
        "sfumato-reports.db", metavar="FILE|URL", help="An SQLite file, or postgresql://USER@HOST/DATABASE."
    ),
    host: str = Option("127.0.0.1", help="The address to listen on; by default this machine alone."),
    port: int = Option(8000, help="The port; 0 takes any that is free."),
    token: str | None = Option(
        None,
        envvar="SFUMATO_TOKEN",
        show_envvar=True,
        help="The administrator's token, 16 characters or more; without it, one is drawn and shown.",
    ),
    origins: list[str] | None = Option(
        None, "--allow-origin", metavar="ORIGIN", help="A site whose own pages may send reports here; may be repeated."
    ),
) -> None:
    """Collect noisy reports from browsers and other clients.

    Participants open a page that adds the noise on their device. The server never sees a true answer and keeps no
    address. Reports are stored before they are acknowledged. Put a proxy that speaks HTTPS in front of it before
    anybody else can reach it.
    """
    from sfumato.collect.collector.service import check_token, make_service
    from sfumato.collect.collector.serving import serve
    from sfumato.collect.collector.storage import Storage

    asked = [read_survey(path) for path in surveys or []]
    secret = token or secrets.token_urlsafe(24)
    check_token(secret)

    def listening(address: str) -> None:
        say(f"Collecting at {address}, into {storage}. Stop with Ctrl+C.")
        for survey, reports in storage.surveys():
            state = f"{reports:,} reports" if survey.is_open() else f"{reports:,} reports, closed"
            say(f"{survey.name}: {address}/s/{survey.name} ({state})")
            say(f"Dashboard: {address}/dashboard/{survey.name}" + ("" if token else f"#token={secret}"), indent=2)
        if host not in ("127.0.0.1", "::1", "localhost"):
            note("Others can reach this address: put a proxy that speaks HTTPS in front of it.")
        if not token:
            note(f"The administrator's token for this run is {secret}; set SFUMATO_TOKEN to choose your own.")

    with closing(Storage(database)) as storage:
        for survey in asked:
            storage.add_survey(survey)
        for survey, _ in storage.surveys():
            _warn(survey)
        serve(make_service(storage, secret, origins=origins or ()), host, port, listening)


def _warn(survey: Survey) -> None:
    """Say before anybody is asked which surveys no browser answers, and what their reports would give away."""
    told, worth = f"{survey.name}: epsilon is {float(survey.epsilon):g}", float(survey.worth)
    if survey.worth > survey.channel.exact_epsilon and survey.worth > MAX_IN_BROWSER:
        told += (
            f" per step, so that one report tells answers a hundredth of the range apart ({survey.size / HUNDRED:,.0f} "
            f"steps) from each other with epsilon {worth:,.4g}; use a smaller epsilon or a larger step"
        )
    if survey.mechanism != "geometric":
        note(f"{survey.name}: browsers add geometric noise alone; {survey.mechanism} reports need a program.")
    if survey.worth > MAX_IN_BROWSER:
        note(f"{told}; no browser will answer, since each sends reports worth {MAX_IN_BROWSER} in all.")
