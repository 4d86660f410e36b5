"""Many callers at once, as a service on one machine has them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from tests.support.api import ADMIN, HOOK, NINE, OWNER_ROLE, Front

REPORT = "/v1/teams/payments/jobs/report"


def test_concurrent_patches_of_one_job_lose_nothing():
    front = Front.at()
    front.job()

    def label(number: int) -> int:
        return front.patch(REPORT, {"labels": {f"n{number}": "x"}}).status

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(label, range(8))) == {200}
    body = front.get(REPORT).body
    assert body["labels"] == {f"n{number}": "x" for number in range(8)}
    assert body["revision"] == 9
    history = front.get(REPORT + "/revisions").body["items"]
    assert [entry["revision"] for entry in history] == list(range(9, 0, -1))


def test_of_writers_with_one_tag_one_wins():
    front = Front.at()
    tag = front.job().etag

    def tier(number: int) -> int:
        body = {"description": str(number)}
        return front.patch(REPORT, body, headers={"If-Match": tag}).status

    with ThreadPoolExecutor(8) as pool:
        statuses = sorted(pool.map(tier, range(8)))
    assert statuses == [200] + [412] * 7


def test_nobody_is_answered_with_anothers_request():
    front = Front.at()
    for team in ("a", "b"):
        front.put(f"/v1/teams/{team}", {"principals": [OWNER_ROLE]}, by=ADMIN)
        for number in range(10):
            front.put(f"/v1/teams/{team}/jobs/{team}{number}", {"schedule": NINE, "target": HOOK})

    def read(turn: int) -> bool:
        team, number = "ab"[turn % 2], turn % 10
        body = front.get(f"/v1/teams/{team}/jobs/{team}{number}").body
        return (body["team"], body["name"]) == (team, f"{team}{number}")

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(read, range(200)))


def test_one_key_in_many_hands_runs_once():
    front = Front.at()
    front.job()

    def run(_: int) -> int:
        return front.post(REPORT + "/run", headers={"Idempotency-Key": "k"}).status

    with ThreadPoolExecutor(8) as pool:
        statuses = set(pool.map(run, range(16)))
    assert statuses <= {201, 409}
    assert 201 in statuses
    assert len(front.get(REPORT + "/executions").body["items"]) == 1
