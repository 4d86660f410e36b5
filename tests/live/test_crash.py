"""`kill -9` of the service, Ctrl-C, restarts: what was acknowledged is there, nothing runs twice."""

from __future__ import annotations

import pytest

from fencepost.runtime.clock import sleep_ms
from tests.support.live import LiveTarget, ahead, declaration, until

pytestmark = [pytest.mark.live, pytest.mark.xdist_group("live")]

JOBS = 50
CAP = 10
SOON = {"initial_delay_seconds": 1, "multiplier": 1, "max_attempts": 5}


@pytest.fixture
def target():
    with LiveTarget().serving() as serving:
        yield serving


@pytest.mark.usefixtures("bereaved")
def test_fifty_jobs_outlive_a_kill_in_the_middle_of_their_firings(tmp_path, target, service_of):
    calls = [0]

    def slow(_):
        calls[0] += 1
        sleep_ms(400)
        return 200

    target.answers["/hook"] = slow
    service = service_of(tmp_path / "data")
    service.start()
    service.put_team("payments", max_concurrency=CAP)
    now, later = ahead(4), ahead(14)
    jobs = [f"job-{number:02}" for number in range(JOBS)]

    def due_at(at):
        return declaration({"at": at}, f"{target.url}/hook", timeout_seconds=1, retry=SOON)

    half = JOBS // 2
    service.put_jobs("payments", {name: due_at(now if n < half else later) for n, name in enumerate(jobs)})
    until(lambda: True if calls[0] >= 12 else None, 20, "the first dozen firings")
    service.kill()
    sleep_ms(2_000)

    with service.running():
        listed = service.call("GET", "/v1/teams/payments/jobs?limit=100")["items"]
        assert [each["name"] for each in listed] == jobs

        def at_rest():
            found = [service.executions("payments", job) for job in jobs]
            return found if all([each["state"] for each in one] == ["SUCCEEDED"] for one in found) else None

        records = [one[0] for one in until(at_rest, 60, "one SUCCEEDED record of every job")]
    assert {each["due"] for each in records} == {now, later}
    lost = [each for each in records if each["attempts"][0]["outcome"] == "worker_lost"]
    assert lost, "somebody was in the middle of a call when the service was killed"
    assert len(lost) <= CAP
    for record in records:
        fences = [attempt["fence"] for attempt in record["attempts"]]
        assert fences == sorted(set(fences))
        assert record["fence"] == fences[-1]
    arrivals = target.at("/hook")
    assert {each.execution for each in arrivals} == {each["id"] for each in records}
    heard = {(each.execution, each.fence) for each in arrivals}
    assert len(heard) == len(arrivals), "no fence comes twice"
    told = {
        (record["id"], attempt["fence"]): attempt["outcome"]
        for record in records
        for attempt in record["attempts"]
    }
    assert heard <= told.keys(), "the ledger has every call"
    # The mark is written before the call: a worker killed between the two has called nobody.
    assert {told[each] for each in told.keys() - heard} <= {"worker_lost"}


def test_ctrl_c_finishes_what_is_under_way_and_a_restart_goes_on_where_it_stopped(
    tmp_path, target, service_of
):
    def slow(_):
        sleep_ms(1_500)
        return 200

    target.answers["/slow"] = slow
    service = service_of(tmp_path / "data")
    service.start()
    service.put_team("payments")
    service.put_job("payments", "slow", {"at": ahead(2)}, f"{target.url}/slow")
    service.put_job("payments", "after", {"at": ahead(4)}, f"{target.url}/after")
    until(lambda: target.at("/slow") or None, 15, "the slow call")
    assert service.stop() == 0
    assert len(target.at("/slow")) == 1
    with service.running():
        assert service.only("payments", "slow", "SUCCEEDED")["attempts"][0]["status"] == 200
        assert len(service.only("payments", "after", "SUCCEEDED")["attempts"]) == 1
    assert (len(target.at("/slow")), len(target.at("/after"))) == (1, 1)


def test_the_halves_are_processes_of_their_own_and_meet_in_the_data_directory(tmp_path, target, service_of):
    api = service_of(tmp_path / "data", "--api-only")
    engine = service_of(tmp_path / "data", "--engine-only")
    with api.running():
        api.put_team("payments")
        api.put_job("payments", "report", {"at": ahead(1)}, f"{target.url}/hook")
        sleep_ms(2_500)
        assert target.at("/hook") == [], "nobody fires while the engine does not run"
        with engine.running():
            record = api.only("payments", "report", "SUCCEEDED")
        assert record["lateness_ms"] > 0
        assert len(target.at("/hook")) == 1
