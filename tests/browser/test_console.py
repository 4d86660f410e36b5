"""A job's life in the console, with real clicks: registered, watched, paused, edited, failed, redriven, deleted."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
import yaml
from playwright.sync_api import Page, Route, expect

from fencepost.client.declaration import read_jobs
from tests.browser.conftest import Console
from tests.support.browser import looking

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]


@pytest.fixture
def team(served: Console, request: pytest.FixtureRequest) -> str:
    """A team that no other story touches."""
    name = re.sub(r"[^a-z0-9]+", "-", request.node.name.removeprefix("test_"))[:40].strip("-")
    served.service.put_team(name, max_concurrency=10)
    return name


@pytest.fixture
def page(served: Console, team: str) -> Iterator[Page]:
    with looking(served.browser, served.address) as page:
        opened(page, team)
        yield page


def opened(page: Page, team: str) -> None:
    page.get_by_label("Team", exact=True).fill(team)
    page.get_by_role("button", name="Open").click()
    expect(page.get_by_role("link", name="Dead letters")).to_be_visible()


def go(page: Page, team: str, *parts: str) -> None:
    page.evaluate("hash => { location.hash = hash }", "#/" + "/".join((team, *parts)))


def said(page: Page, text: str) -> None:
    expect(page.get_by_role("status").filter(has_text=text).first).to_be_visible()


def test_the_key_leaves_the_address_bar_and_a_strange_key_opens_nothing(served: Console, team: str):
    with looking(served.browser, served.address) as page:
        expect(page.get_by_role("heading", name="Which team?")).to_be_visible()
        assert "token" not in page.url
        cookies = page.context.cookies()
        assert [(each["httpOnly"], each["sameSite"]) for each in cookies] == [(True, "Strict")]
    with looking(served.browser, re.sub(r"token=\w+", "token=guessed", served.address)) as page:
        expect(page.get_by_role("heading", name="This key opens nothing")).to_be_visible()
        page.goto(served.address.split("?")[0])
        expect(page.get_by_role("heading", name="This page has no key")).to_be_visible()


def test_a_team_that_is_not_there_can_be_made(served: Console):
    with looking(served.browser, served.address) as page:
        page.get_by_label("Team", exact=True).fill("ledger")
        page.get_by_role("button", name="Open").click()
        page.get_by_role("button", name="Create team ledger").click()
        expect(page.get_by_text("This team has no jobs yet")).to_be_visible()


def test_a_jobs_life(served: Console, page: Page, team: str):
    registers(served, page)
    watches(page)
    pauses_and_resumes(served, page, team)
    edits(served, page, team)
    fails(page)
    redrives(served, page, team)
    copies(page, team)
    runs_by_hand(page)
    deletes(page, team)


def registers(served: Console, page: Page) -> None:
    page.get_by_role("link", name="New job").first.click()
    page.get_by_label("Name", exact=True).fill("rates")
    page.get_by_role("button", name="Interval").click()
    page.get_by_label("Every", exact=True).fill("PT7H")
    expect(page.get_by_text("Every 7 hours of real time")).to_be_visible()
    page.get_by_label("Every", exact=True).fill("PT5S")
    expect(page.get_by_text("Every 5 seconds of real time")).to_be_visible()
    page.get_by_role("button", name="Review the job").click()
    expect(page.get_by_text("say where to")).to_be_visible()
    page.get_by_label("Webhook", exact=True).fill(f"{served.target.url}/ok")
    page.get_by_label("Payload, as JSON").fill('{"currencies": ["EUR", "CHF"]}')
    page.get_by_role("button", name="Review the job").click()
    page.get_by_role("button", name="Declare it").click()
    expect(page.get_by_role("heading", name="rates", level=1)).to_be_visible()
    said(page, "rates is declared")


def watches(page: Page) -> None:
    posts = page.get_by_role("list", name="The newest occurrences, the oldest first").get_by_role("link")
    expect(posts.filter(has=page.locator("span")).first).to_be_visible()
    expect(page.locator("a[aria-label*=succeeded]").first).to_be_visible()
    page.get_by_role("link", name="Jobs", exact=True).first.click()
    row = page.get_by_role("row").filter(has_text="rates")
    expect(row.get_by_text("every 5 seconds")).to_be_visible()
    expect(row.get_by_role("img", name=re.compile("succeeded"))).to_be_visible()
    row.get_by_role("link", name="rates").click()
    page.get_by_role("row").filter(has_text="succeeded").first.get_by_role("link").click()
    expect(page.get_by_role("heading", name="Where the time went")).to_be_visible()
    expect(page.get_by_label("Response to attempt 1")).to_have_text('{"rows": 1204}')
    expect(page.get_by_text('"currencies"')).to_be_visible()
    page.get_by_role("navigation", name="Where this is").get_by_role("link", name="rates").click()


def pauses_and_resumes(served: Console, page: Page, team: str) -> None:
    page.get_by_role("button", name="Pause…").click()
    page.get_by_label("Reason").fill("the feed moves house")
    page.get_by_label("How long").select_option("for an hour")
    page.get_by_role("button", name="Pause", exact=True).click()
    expect(page.get_by_text("“the feed moves house”").first).to_be_visible()
    job = served.service.call("GET", f"/v1/teams/{team}/jobs/rates")
    assert (job["state"], job["state_reason"]) == ("PAUSED", "the feed moves house")
    assert job["paused_until"] is not None
    page.get_by_role("button", name="Resume").click()
    said(page, "rates fires again")
    expect(page.get_by_role("button", name="Pause…")).to_be_visible()


def edits(served: Console, page: Page, team: str) -> None:
    page.get_by_role("link", name="Edit").click()
    page.get_by_label("Webhook", exact=True).fill(f"{served.target.url}/broken")
    page.get_by_label("Attempts at most").fill("101")
    page.get_by_role("button", name="Review the change").click()
    expect(page.get_by_role("alert")).to_contain_text("retry.max_attempts")
    page.get_by_label("Attempts at most").fill("1")
    page.get_by_role("button", name="Review the change").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text("retry.max_attempts")).to_be_visible()
    expect(dialog.locator("ins").filter(has_text=f"{served.target.url}/broken")).to_be_visible()
    assert served.service.call("GET", f"/v1/teams/{team}/jobs/rates")["retry"]["max_attempts"] == 5
    dialog.get_by_role("button", name="Make the change").click()
    said(page, "rates is changed")
    history = page.get_by_role("region", name="History of the definition")
    expect(history.locator("ins").filter(has_text=f"{served.target.url}/broken")).to_be_visible()
    expect(history.get_by_text("“the feed moves house”").or_(history.locator("q").first)).to_be_visible()


def fails(page: Page) -> None:
    expect(page.locator("a[aria-label*=': dead']").first).to_be_visible()
    page.get_by_role("link", name=re.compile("Home")).click()
    attention = page.get_by_role("region", name="Needs attention")
    expect(attention.get_by_text(re.compile(r"\d+ dead letters?"))).to_be_visible()
    attention.get_by_role("link", name="Redrive").click()
    expect(page.get_by_role("heading", name="Dead letters", level=1)).to_be_visible()


def redrives(served: Console, page: Page, team: str) -> None:
    served.target.mended = True
    served.service.call("POST", f"/v1/teams/{team}/jobs/rates/pause", {"note": "quiet, please"})
    page.reload()
    page.get_by_label("Words of the answer").fill("no such words")
    expect(page.get_by_text("None fits")).to_be_visible()
    page.get_by_label("Words of the answer").fill("500 LEDGER-replica")
    page.get_by_label("Job", exact=True).select_option("rates")
    first = page.get_by_role("row").nth(1)
    execution = (first.get_by_role("link").nth(1).get_attribute("href") or "").rpartition("/")[2]
    page.get_by_label("Choose all on this page").check()
    page.get_by_role("button", name=re.compile(r"Redrive \d+ chosen")).click()
    page.get_by_label("Note").fill("the replica is back")
    page.get_by_role("dialog").get_by_role("button", name="Redrive").click()
    expect(page.get_by_text(re.compile(r"(\d+) of \1 on the way again"))).to_be_visible()
    page.get_by_role("button", name="Close").click()
    expect(page.get_by_text("No dead letters")).to_be_visible()
    go(page, team, "executions", execution)
    expect(page.get_by_text("The target took it.")).to_be_visible()
    fences = page.get_by_role("region", name="Fence history").locator(".mono").all_inner_texts()
    assert len(fences) == 2
    assert int(fences[0]) < int(fences[1])


def copies(page: Page, team: str) -> None:
    go(page, team, "jobs", "rates")
    for what, expected in (("curl", "curl --aws-sigv4"), ("command", "fencepost job put rates")):
        page.get_by_role("button", name="More").click()
        page.get_by_role("button", name=f"Copy as {what}").click()
        said(page, "Copied")
        assert page.evaluate("navigator.clipboard.readText()").startswith(expected)
    page.get_by_role("button", name="More").click()
    page.get_by_role("button", name="Copy as YAML").click()
    said(page, "Copied: a file of jobs")
    found = read_jobs(yaml.safe_load(page.evaluate("navigator.clipboard.readText()")))
    assert found.team == team
    assert found.jobs["rates"]["payload"] == {"currencies": ["EUR", "CHF"]}


def runs_by_hand(page: Page) -> None:
    page.get_by_role("button", name="Run now").click()
    page.get_by_role("status").get_by_role("link", name="Watch it").click()
    expect(page.get_by_text("run by hand")).to_be_visible()
    expect(page.get_by_text("The target took it.")).to_be_visible()


def deletes(page: Page, team: str) -> None:
    go(page, team, "jobs", "rates")
    page.get_by_role("button", name="More").click()
    page.get_by_role("button", name="Delete…").click()
    expect(page.get_by_role("button", name="Delete", exact=True)).to_be_disabled()
    page.get_by_label("Type rates to go on").fill("rates")
    page.get_by_role("button", name="Delete", exact=True).click()
    said(page, "rates is deleted")
    expect(page.get_by_text("This team has no jobs yet")).to_be_visible()


def test_a_job_that_nobody_can_read_is_named_above_the_rest(served: Console, page: Page, team: str):
    served.service.put_job(team, "whole", {"cron": "0 9 * * *"}, f"{served.target.url}/ok")

    def spoilt(route: Route) -> None:
        answer = route.fetch()
        bad = {"name": "bad", "uid": "a" * 20, "why": "KeyError: 'team'"}
        route.fulfill(response=answer, json={**answer.json(), "unreadable": [bad]})

    page.route(re.compile(rf"/teams/{team}/jobs\?"), spoilt)
    go(page, team, "jobs")
    expect(page.get_by_text("Nobody can read bad: KeyError: 'team'.")).to_be_visible()
    expect(page.get_by_text("fencepost job put bad", exact=True)).to_be_visible()
    expect(page.get_by_role("link", name="whole")).to_be_visible()


def test_a_worker_that_never_reports_can_be_failed(served: Console, page: Page, team: str):
    served.service.put_job(
        team, "import", {"in": "PT1S"}, f"{served.target.url}/work", retry={"max_attempts": 1}
    )
    record = served.service.only(team, "import", "RUNNING")
    go(page, team, "executions", record["id"])
    page.get_by_role("button", name="Fail…").click()
    page.get_by_label("What went wrong").fill("the worker was taken away")
    page.get_by_role("button", name="Fail it").click()
    expect(page.get_by_text("the worker was taken away")).to_be_visible()
    assert served.service.only(team, "import", "DEAD")["attempts"][0]["error"] == "the worker was taken away"


def test_the_team_is_paused_and_resumed_and_its_keys_are_made_and_dropped(
    served: Console, page: Page, team: str
):
    go(page, team, "team")
    page.get_by_role("button", name="Pause the team…").click()
    page.get_by_label("Reason").fill("quarter end")
    page.get_by_role("button", name="Pause the team", exact=True).click()
    expect(page.get_by_text("“quarter end”").first).to_be_visible()
    page.get_by_role("button", name="Resume the team").click()
    expect(page.get_by_role("button", name="Pause the team…")).to_be_visible()
    page.get_by_role("button", name="Make a key").click()
    expect(page.get_by_role("dialog").locator("pre")).to_contain_text("whsec_")
    page.get_by_role("button", name="Done").click()
    [key] = served.service.call("GET", f"/v1/teams/{team}/keys")["items"]
    expect(page.get_by_text(key["id"])).to_be_visible()
    page.get_by_role("button", name=f"Drop key {key['id']}").click()
    expect(page.get_by_role("alert")).to_be_visible()  # the last key inside its overlap stays


def test_everything_can_be_reached_with_the_keyboard(served: Console, page: Page, team: str):
    page.reload()
    expect(page.get_by_role("link", name="Dead letters")).to_be_visible()
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the page")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("main")).to_be_focused()
    go(page, team, "new")
    page.get_by_label("Name", exact=True).focus()
    page.keyboard.type("typed")
    for _ in range(6):
        page.keyboard.press("Tab")
    expect(page.get_by_label("Time zone")).to_be_focused()
    served.service.put_job(team, "keys", {"cron": "0 9 * * *"}, f"{served.target.url}/ok")
    go(page, team, "jobs", "keys")
    page.get_by_role("button", name="Pause…").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_label("Reason")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_role("button", name="Pause…")).to_be_focused()
