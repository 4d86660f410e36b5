from __future__ import annotations

import pytest

from infra.names import Names
from tests.support.api import ADMIN, ADMIN_ROLE, OWNER, OWNER_ROLE, STRANGER, Front

PAYMENTS = "/v1/teams/payments"


@pytest.fixture
def front():
    return Front.at()


class TestWhoMay:
    def test_an_administrator_creates_teams(self):
        reply = Front.at(team=False).put(PAYMENTS, {}, by=ADMIN)
        assert (reply.status, reply.etag) == (201, '"1"')
        assert reply.body["max_concurrency"] == 50

    def test_nobody_else_does(self, front):
        reply = front.put("/v1/teams/mine", {"principals": [OWNER_ROLE]})
        assert (reply.status, reply.body["type"]) == (403, "urn:fencepost:problem:forbidden")

    def test_a_stranger_learns_nothing_not_even_whether_a_team_exists(self, front):
        there = front.get(PAYMENTS, by=STRANGER).body["detail"]
        nowhere = front.get("/v1/teams/nowhere", by=STRANGER).body["detail"]
        assert there.replace("team payments", "team nowhere") == nowhere

    @pytest.mark.parametrize(
        ("arn", "status"),
        [
            ("arn:aws:sts::111122223333:assumed-role/payments-deploy/another-session", 200),
            ("arn:aws:sts::111122223333:assumed-role/other/payments-deploy", 403),
            ("arn:aws:sts::444455556666:assumed-role/payments-deploy/some-session", 403),
            ("arn:aws:iam::111122223333:user/payments-deploy", 403),
            ("arn:aws:sts::111122223333:federated-user/payments-deploy", 403),
            (ADMIN, 200),
            (None, 403),
        ],
    )
    def test_a_principal_is_account_and_role_and_never_the_session_name(self, front, arn, status):
        assert front.get(PAYMENTS, by=arn).status == status

    def test_a_role_with_a_path_is_meant_by_its_name(self, front):
        path = "arn:aws:iam::111122223333:role/ci/deploy/runner"
        front.patch(PAYMENTS, {"principals": [OWNER_ROLE, path]})
        runner = "arn:aws:sts::111122223333:assumed-role/runner/build-7"
        assert front.get(PAYMENTS, by=runner).status == 200

    def test_an_owner_changes_the_team_but_not_its_share_of_the_stage(self, front):
        assert front.patch(PAYMENTS, {"retention_days": 60}).body["retention_days"] == 60
        reply = front.patch(PAYMENTS, {"max_concurrency": 500, "max_jobs": 5})
        assert reply.status == 403
        assert "max_concurrency, max_jobs" in reply.body["detail"]
        assert front.patch(PAYMENTS, {"max_concurrency": 500}, by=ADMIN).body["max_concurrency"] == 500


class TestDeliveryRole:
    @pytest.mark.parametrize(
        "arn",
        [
            "arn:aws:iam::111122223333:role/fencepost-delivery-payments",
            "arn:aws-us-gov:iam::111122223333:role/fencepost-delivery-prod-a.b_c@d",
            "arn:aws:iam::111122223333:role/" + Names(stage="prod").delivery_role("probe"),
        ],
    )
    def test_a_role_that_the_stage_can_assume_is_taken(self, front, arn):
        assert front.patch(PAYMENTS, {"delivery_role": arn}).body["delivery_role"] == arn

    @pytest.mark.parametrize(
        "arn",
        [
            "arn:aws:iam::111122223333:role/payments-delivery",
            "arn:aws:iam::111122223333:role/fencepost-delivery",
            "arn:aws:iam::111122223333:role/fencepost-delivery-",
            "arn:aws:iam::111122223333:role/teams/fencepost-delivery-payments",
            "arn:aws:iam::111122223333:role/fencepost-delivery-payments/admin",
            "arn:aws:iam::111122223333:role/fencepost-delivery-payments\n",
            "arn:aws:iam::111122223333:user/fencepost-delivery-payments",
            "arn:aws:iam::\u0661\u06612233334444:role/fencepost-delivery-payments",
            "arn:aws:iam::111122223333:role/fencepost-delivery-" + "a" * 46,
            "fencepost-delivery-payments",
            "",
        ],
    )
    @pytest.mark.parametrize("method", ["PUT", "PATCH"])
    def test_P10_a_role_that_the_stage_cannot_assume_is_refused_by_name_value_and_rule(
        self, front, method, arn
    ):
        reply = front.call(method, PAYMENTS, {"delivery_role": arn, "principals": [OWNER_ROLE]})
        fault = reply.faults["delivery_role"]
        assert (reply.status, fault["value"]) == (422, arn)
        assert "named fencepost-delivery-..." in fault["rule"]


def test_every_fault_of_a_team_is_told_at_once(front):
    reply = front.put(
        PAYMENTS,
        {
            "max_concurrency": 0,
            "tiers": ["recovery"],
            "principals": ["payments-deploy", "*"],
            "notify": {"webhook": "http://localhost/", "sns": "topic"},
            "retention_days": 1,
            "allowed_host": [],
        },
        by=ADMIN,
    )
    assert {
        "max_concurrency",
        "tiers.0",
        "principals.0",
        "principals.1",
        "notify.webhook",
        "notify.sns",
        "retention_days",
        "allowed_host",
    } <= set(reply.faults)
    assert reply.faults["allowed_host"]["suggestion"] == "allowed_hosts"


def test_a_patch_keeps_what_it_does_not_name(front):
    front.patch(PAYMENTS, {"notify": {"webhook": "https://example.com/told"}})
    body = front.patch(PAYMENTS, {"retention_days": 60}).body
    assert body["notify"] == {"webhook": "https://example.com/told"}
    assert body["principals"] == [OWNER_ROLE]


def test_the_same_again_is_no_change(front):
    tag = front.get(PAYMENTS).etag
    assert front.put(PAYMENTS, {"principals": [OWNER_ROLE]}).etag == tag


def test_a_stale_tag_loses(front):
    tag = front.get(PAYMENTS).etag
    front.patch(PAYMENTS, {"retention_days": 60})
    assert front.patch(PAYMENTS, {"retention_days": 90}, headers={"If-Match": tag}).status == 412
    assert front.put(PAYMENTS, {}, by=ADMIN, headers={"If-None-Match": "*"}).status == 412


def test_a_team_gets_an_external_id_of_its_own_and_keeps_it(front):
    first = front.get(PAYMENTS).body["external_id"]
    other = front.put("/v1/teams/ledger", {}, by=ADMIN).body["external_id"]
    assert len({first, other, None}) == 3
    assert front.patch(PAYMENTS, {"retention_days": 60}).body["external_id"] == first


def test_history(front):
    front.patch(PAYMENTS, {"retention_days": 60})
    items = front.get(PAYMENTS + "/revisions").body["items"]
    assert [(entry["what"], entry["actor"]) for entry in items] == [
        ("edit", OWNER_ROLE),
        ("create", ADMIN_ROLE),
    ]
    assert (items[0]["before"]["retention_days"], items[0]["after"]["retention_days"]) == (30, 60)


def test_a_list_of_allowed_hosts_binds_the_teams_jobs(front):
    front.patch(PAYMENTS, {"allowed_hosts": ["*.example.org"]})
    assert list(front.job().faults) == ["target.webhook.url"]


def test_the_tiers_of_a_team_bind_its_jobs(front):
    front.patch(PAYMENTS, {"tiers": ["standard"]}, by=ADMIN)
    assert list(front.job(tier="critical").faults) == ["tier"]


def test_the_limit_of_jobs_names_itself_and_its_value(front):
    front.patch(PAYMENTS, {"max_jobs": 1}, by=ADMIN)
    front.job("one")
    reply = front.job("two")
    assert reply.status == 422
    assert reply.faults["max_jobs"]["value"] == 2


def test_a_session_is_told_apart_from_its_role(front):
    assert front.job(by=OWNER).body["team"] == "payments"
    assert front.get("/v1/teams/payments/jobs/report/revisions").body["items"][0]["actor"] == OWNER_ROLE


CALM = {"api.example.com": {"max_parallel": 5, "max_per_minute": 600}}


class TestHostsThatATeamSpares:
    def test_are_declared_by_the_team_itself_and_read_back(self, front):
        assert front.get(PAYMENTS).body["hosts"] == {}
        assert front.patch(PAYMENTS, {"hosts": CALM}).body["hosts"] == CALM
        assert front.get(PAYMENTS).body["hosts"] == CALM
        entry = front.get(PAYMENTS + "/revisions").body["items"][0]
        assert (entry["before"]["hosts"], entry["after"]["hosts"]) == ({}, CALM)

    def test_are_patched_one_by_one(self, front):
        front.patch(PAYMENTS, {"hosts": CALM})
        more = {"slow.example.com": {"max_parallel": 1}, "api.example.com": {"max_per_minute": None}}
        assert front.patch(PAYMENTS, {"hosts": more}).body["hosts"] == {
            "api.example.com": {"max_parallel": 5, "max_per_minute": None},
            "slow.example.com": {"max_parallel": 1, "max_per_minute": None},
        }
        gone = {"hosts": {"slow.example.com": None}}
        assert set(front.patch(PAYMENTS, gone).body["hosts"]) == {"api.example.com"}

    def test_have_their_faults_told_by_name(self, front):
        hosts = {
            "API.example.com": {"max_parallel": 1},
            "0x7f.1": {"max_parallel": 1},
            "a.example.com": {"max_parallel": 0},
            "b.example.com": {},
        }
        faults = front.patch(PAYMENTS, {"hosts": hosts}).faults
        assert {"hosts.a.example.com.max_parallel", "hosts.b.example.com"} <= set(faults)
        del hosts["a.example.com"], hosts["b.example.com"]
        faults = front.patch(PAYMENTS, {"hosts": hosts}).faults
        assert faults["hosts.API.example.com"]["suggestion"] == "api.example.com"
        assert faults["hosts.0x7f.1"]["suggestion"] == "127.0.0.1"
