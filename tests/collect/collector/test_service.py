"""The HTTP interface: what is answered, to whom, and a sentence for whatever is refused."""

from __future__ import annotations

import secrets
import threading
from typing import TYPE_CHECKING, Any

import pytest

from sfumato.collect.collector.service import PAGES, TYPES, make_service
from sfumato.errors import ParameterError
from sfumato.estimation import estimate as estimates

from .client import ADMIN, JSON, SPEC, TOKEN, Client, guarded, new_id

if TYPE_CHECKING:
    from pathlib import Path

    from sfumato.collect.collector.storage import Storage


def test_a_survey_is_added_once(collector: Client) -> None:
    name = f"age-{secrets.token_hex(6)}"
    spec = {**SPEC, "name": name}
    first = collector.post("/api/surveys", spec, **ADMIN)
    whole = {**spec, "epsilon": "1/2", "step": 1, "mechanism": "geometric", "smallest_batch": 100, "ends": None}
    assert (first.status, first.document) == (201, whole)
    again = collector.post("/api/surveys", {**spec, "epsilon": "1/2"}, **ADMIN)
    assert (again.status, again.document) == (200, whole)
    other = collector.post("/api/surveys", {**spec, "max": 98}, **ADMIN)
    assert other.status == 409
    assert other.error == f"another survey has the name '{name}'; choose a new name"


def test_everyone_may_read_a_survey(collector: Client) -> None:
    name = collector.add_survey(min=-10, max=10, step=5, mechanism="square-wave", epsilon=1)
    answer = collector.get(f"/api/surveys/{name}")
    assert answer.status == 200
    found = answer.document
    assert found["claim"].startswith("whoever holds the reports, any one person's value changes the probability")
    assert found["lowest_report"] < -10
    assert found["highest_report"] == -found["lowest_report"]
    assert (found["name"], found["epsilon"], found["open"], "reports" in found) == (name, "1", True, False)


def test_the_administrator_sees_all_surveys(collector: Client) -> None:
    name, ended = collector.add_survey(), collector.add_survey(ends="2020-01-01")
    collector.report(name, 1, 2)
    surveys = {each["name"]: each for each in collector.get_as_admin("/api/surveys").document["surveys"]}
    assert (surveys[name]["reports"], surveys[name]["open"]) == (2, True)
    assert (surveys[ended]["reports"], surveys[ended]["open"]) == (0, False)
    assert surveys[name]["question"] == "How old are you?"


def test_reports_are_acknowledged_and_counted_once(collector: Client) -> None:
    name = collector.add_survey()
    one = {"id": new_id(), "value": 43}
    path = f"/api/surveys/{name}/reports"
    assert collector.post(path, one).document == {"accepted": 1, "repeated": 0}
    assert collector.post(path, one).document == {"accepted": 0, "repeated": 1}
    batch = [one, {"id": new_id(), "value": 0}, {"id": new_id(), "value": 99}]
    assert collector.post(path, {"reports": batch}).document == {"accepted": 2, "repeated": 1}
    counts = collector.get_as_admin(f"/api/surveys/{name}/counts").document
    assert (counts["reports"], counts["survey"]["name"], len(counts["counts"])) == (3, name, 100)
    assert {value: count for value, count in enumerate(counts["counts"]) if count} == {0: 1, 43: 1, 99: 1}


def test_counts_start_at_the_lowest_report_in_steps(collector: Client) -> None:
    name = collector.add_survey(min=-20, max=20, step=10)
    collector.report(name, -20, -20, 0, 20)
    assert collector.get_as_admin(f"/api/surveys/{name}/counts").document["counts"] == [2, 0, 1, 0, 1]


def test_an_id_with_another_value_is_a_conflict_and_nothing_is_kept(collector: Client) -> None:
    name = collector.add_survey()
    known, *_ = collector.report(name, 1, 2, 3)
    batch = [{"id": new_id(), "value": 9}, {**known, "value": 8}]
    answer = collector.post(f"/api/surveys/{name}/reports", {"reports": batch})
    assert answer.status == 409
    assert answer.error == f"the id '{known['id']}' came before with another value; expected a new id for each report"
    assert sum(collector.get_as_admin(f"/api/surveys/{name}/counts").document["counts"]) == 3


@pytest.mark.parametrize("what", ["counts", "results"])
def test_nothing_is_shown_of_too_few_reports(collector: Client, what: str) -> None:
    name = collector.add_survey(smallest_batch=4)
    collector.report(name, 1, 2, 3)
    answer = collector.get_as_admin(f"/api/surveys/{name}/{what}")
    assert answer.status == 409
    assert answer.error == f"the survey '{name}' has 3 reports; expected at least 4 before anything is shown"


def test_a_closed_survey_takes_no_reports(collector: Client) -> None:
    name = collector.add_survey(ends="2020-01-01")
    answer = collector.post(f"/api/surveys/{name}/reports", {"id": new_id(), "value": 4})
    assert (answer.status, answer.error) == (403, f"the survey '{name}' is closed; it takes no more reports")
    assert collector.get(f"/api/surveys/{name}").document["open"] is False


ADMIN_CALLS = [
    ("GET", "/api/surveys"),
    ("POST", "/api/surveys"),
    ("GET", "/api/surveys/x/counts"),
    ("GET", "/api/surveys/x/results"),
]


@pytest.mark.parametrize(("method", "path"), ADMIN_CALLS)
@pytest.mark.parametrize(
    "header",
    [None, TOKEN, f"Basic {TOKEN}", "Bearer", "Bearer ", f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}", "Bearer ä"],
)
def test_what_is_the_administrators_needs_the_token(site: Client, method: str, path: str, header: str | None) -> None:
    given = {} if header is None else {"Authorization": header}
    answer = site.ask(method, path, b"{}" if method == "POST" else None, {**JSON, **given})
    assert (answer.status, answer.headers["www-authenticate"]) == (401, "Bearer")
    assert answer.error.startswith("this needs the administrator's token")
    assert site.ask(method, path, b"{}", {**JSON, **ADMIN}).status != 401


@pytest.mark.parametrize("token", ["", "short", "fifteen-letters", "with a space in the middle", "ä" * 20, "x" * 201])
def test_a_weak_token_is_refused(token: str) -> None:
    with pytest.raises(ParameterError, match="expected 16 to 200 ASCII characters, no spaces"):
        make_service(None, token)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("method", "path", "status", "sentence"),
    [
        ("GET", "/", 404, "there is nothing at this address"),
        ("GET", "/docs", 404, "there is nothing at this address"),
        ("GET", "/openapi.json", 404, "there is nothing at this address"),
        ("GET", "/api/surveys/", 404, "there is nothing at this address"),
        ("GET", "/api/surveys/nobody", 404, "there is no survey with this name"),
        ("GET", "/api/surveys/No%00body", 404, "there is no survey with this name"),
        ("GET", "/api/surveys/nobody/counts", 404, "there is no survey with this name"),
        ("GET", "/api/surveys/nobody/results", 404, "there is no survey with this name"),
        ("POST", "/api/surveys/nobody/reports", 404, "there is no survey with this name"),
        ("DELETE", "/api/surveys/nobody", 405, "this address does not take DELETE"),
        ("PUT", "/api/surveys", 405, "this address does not take PUT"),
        ("GET", "/api/surveys/nobody/reports", 405, "this address does not take GET"),
        ("POST", "/s/age", 405, "this address does not take POST"),
        ("GET", "/s/No!", 404, "there is no survey with this name"),
        ("GET", "/assets/none.js", 404, "the file does not exist"),
        ("GET", "/assets/..%2fservice.py", 404, "there is nothing at this address"),
        ("GET", "/assets/%2e%2e", 404, "the file does not exist"),
        ("GET", "/assets/service.py", 404, "the file does not exist"),
    ],
)
def test_wrong_addresses_and_methods_get_a_sentence(
    site: Client, method: str, path: str, status: int, sentence: str
) -> None:
    answer = site.ask(method, path, b"{}" if method == "POST" else None, {**JSON, **ADMIN})
    assert (answer.status, answer.error) == (status, sentence)
    guarded(answer)


def test_pages_and_their_files_are_served(site: Client) -> None:
    for path in sorted(PAGES.glob("*")):
        if path.suffix in TYPES:
            answer = site.get(f"/assets/{path.name}")
            assert (answer.status, answer.body) == (200, path.read_bytes())
            assert answer.headers["content-type"] == f"{TYPES[path.suffix]}; charset=utf-8"
            guarded(answer, "no-cache")
    for place, page in (("s", "survey.html"), ("dashboard", "dashboard.html")):
        answer = site.get(f"/{place}/age")
        assert (answer.status, answer.body) == (200, (PAGES / page).read_bytes())
        assert answer.headers["content-type"] == "text/html; charset=utf-8"
        guarded(answer, "no-cache")


def test_threads_that_send_the_same_reports_count_them_once(collector: Client) -> None:
    name = collector.add_survey()
    reports = [{"id": new_id(), "value": number} for number in range(40)]
    accepted: list[int] = []

    def send(number: int) -> None:
        own = reports[number * 5 :] + reports[: number * 5]
        for start in range(0, 40, 8):
            answer = collector.post(f"/api/surveys/{name}/reports", {"reports": own[start : start + 8]})
            accepted.append(answer.document["accepted"])

    threads = [threading.Thread(target=send, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(accepted), sum(accepted)) == (30, 40)
    counts = collector.get_as_admin(f"/api/surveys/{name}/counts").document["counts"]
    assert counts == [1] * 40 + [0] * 60


class Estimated:
    def __init__(self, reports: int) -> None:
        self.reports = reports

    def document(self) -> dict[str, Any]:
        return {"reports": self.reports, "estimate": "likelihood"}


def test_results_are_computed_once_for_each_number_of_reports(
    alone: tuple[Client, Storage, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    client, _, _ = alone
    calls: list[Any] = []

    def estimate(counts: Any, channel: Any, *, values: Any) -> Estimated:
        calls.append((counts.tolist(), channel.size, values.tolist()))
        return Estimated(int(counts.sum()))

    monkeypatch.setattr(estimates, "estimate", estimate)
    name = client.add_survey(min=10, max=30, step=10)
    client.report(name, 10, 10, 30)
    for _ in range(3):
        answer = client.get_as_admin(f"/api/surveys/{name}/results")
        assert answer.document["survey"]["name"] == name
        assert (answer.document["reports"], answer.document["open"]) == (3, True)
    assert calls == [([2, 0, 1], 3, [10, 20, 30])]
    client.report(name, 20)
    assert client.get_as_admin(f"/api/surveys/{name}/results").document["reports"] == 4
    assert calls[1:] == [([2, 1, 1], 3, [10, 20, 30])]


def test_results_are_the_estimate_of_the_counts(collector: Client) -> None:
    name = collector.add_survey(min=0, max=4, epsilon=3)
    collector.report(name, *[1] * 30, *[3] * 70)
    results = collector.get_as_admin(f"/api/surveys/{name}/results").document
    assert (results["reports"], [cell["value"] for cell in results["cells"]]) == (100, [0, 1, 2, 3, 4])
    assert abs(results["cells"][3]["share"] - 0.7) < 0.1
