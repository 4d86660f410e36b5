"""A page of jobs stays light however many there are: bounded rows, one call for the jobs, one for those in sight."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Console
from tests.support.browser import looking
from tests.support.live import declaration

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]
JOBS = 300


def test_a_page_of_jobs_asks_once_for_the_jobs_and_once_for_the_rows_in_sight(served: Console):
    served.service.put_team("many")
    job = declaration({"cron": "0 9 * * *"}, f"{served.target.url}/ok")
    served.service.put_jobs("many", {f"job-{number:03}": job for number in range(JOBS)})
    with looking(served.browser, f"{served.address}#/many/jobs") as page:
        strips = page.get_by_role("img", name="Nothing ran yet")
        expect(page.get_by_role("row").filter(has_text="job-000").locator(strips)).to_be_visible()
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.get_by_role("button", name="Next").click()
        expect(page.get_by_role("row").filter(has_text="job-050").locator(strips)).to_be_visible()
        rows = page.locator("tbody tr")
        assert rows.count() == 50
        assert page.locator("tr").count() < 200
        lists = [url for url in asked if urlsplit(url).path.endswith("/jobs")]
        outcomes = [url for url in asked if urlsplit(url).path.endswith("/outcomes")]
        assert (len(lists), len(outcomes)) == (1, 1)
        in_sight = rows.evaluate_all(
            "rows => rows.filter(row => row.getBoundingClientRect().top < innerHeight).map(row => row.dataset.uid)"
        )
        assert sorted(parse_qs(urlsplit(outcomes[0]).query)["uid"]) == sorted(in_sight)


def test_filters_narrow_the_list_and_stay_in_the_address(served: Console):
    served.service.put_team("filters")
    labelled = declaration({"cron": "0 9 * * *"}, f"{served.target.url}/ok", labels={"app": "ledger"})
    bulk = declaration({"cron": "0 9 * * *"}, f"{served.target.url}/ok", tier="bulk")
    served.service.put_jobs("filters", {"alpha": labelled, "beta": bulk, "gamma": bulk})
    served.service.call("POST", "/v1/teams/filters/jobs/gamma/pause", {})
    with looking(served.browser, f"{served.address}#/filters/jobs") as page:
        rows = page.locator("tbody tr")
        expect(rows).to_have_count(3)
        page.get_by_label("Tier").select_option("bulk")
        expect(rows).to_have_count(2)
        page.get_by_role("button", name="Paused").click()
        expect(rows).to_have_text([re.compile("^gamma")])
        page.reload()
        expect(rows).to_have_text([re.compile("^gamma")])
        page.get_by_role("button", name="All").click()
        page.get_by_label("Tier").select_option("Every tier")
        page.get_by_label("Names that begin with").fill("al")
        expect(rows).to_have_text([re.compile("^alpha")])
        page.get_by_role("link", name="app:ledger").click()
        expect(rows).to_have_text([re.compile("^alpha")])
        assert "label=app" in page.url
