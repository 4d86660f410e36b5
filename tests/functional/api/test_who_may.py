"""Who may call what: every route by every kind of caller, through the gateway that verifies signatures and asks policies.

A new route without a rule here fails.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import timedelta

import pytest

from fencepost.adapters.api.access import Role
from fencepost.adapters.api.routes import ROUTES
from fencepost.domain.iam import TeamRole, iam_policy
from fencepost.local.gateway.credentials import CredentialsFile, entry, role_arn, session_arn
from fencepost.local.gateway.gateway import Gateway
from fencepost.local.gateway.policy import full_access
from fencepost.local.gateway.request import Request
from fencepost.local.gateway.signature import Verifier, sign
from tests.support.api import ADMIN, Front

RULES = {
    "anyone": {"preview", "health", "getStage", "listTeams"},
    "reader": {
        "getTeam",
        "listTeamRevisions",
        "auditTeam",
        "getLimits",
        "listKeys",
        "listCalendars",
        "getCalendar",
        "listCalendarVersions",
        "previewForTeam",
        "listJobs",
        "getJob",
        "listExecutions",
        "listJobRevisions",
        "getExecution",
        "listDeadLetters",
        "listBackfills",
        "getBackfill",
        "listOutcomes",
        "getForecast",
        "getBacklog",
        "getRequest",
    },
    "operator": {
        "pauseTeam",
        "resumeTeam",
        "pauseJob",
        "resumeJob",
        "runJob",
        "heartbeat",
        "complete",
        "fail",
        "redrive",
        "redriveDeadLetters",
        "askForBackfill",
        "cancelBackfill",
    },
    "owner": {
        "putTeam",
        "patchTeam",
        "refreshZones",
        "makeKey",
        "rotateKey",
        "dropKey",
        "putCalendar",
        "deleteCalendar",
        "bulk",
        "putJob",
        "patchJob",
        "deleteJob",
    },
    "admin": {
        "pauseStage",
        "resumeStage",
        "recoverStage",
        "openStage",
        "listStageRevisions",
        "deleteTeam",
    },
}
LEAST = {name: Role(role) for role, names in RULES.items() for name in names}
RISING = [Role.ANYONE, Role.READER, Role.OPERATOR, Role.OWNER, Role.ADMIN]
PATHS = {
    "team": "payments",
    "job": "report",
    "key": "a" * 20,
    "calendar": "holidays",
    "backfill": "0" * 12,
    "id": "a" * 20 + "-s-1772366400000",
}
REGION = "us-east-1"


def holder(name, policy):
    return entry(
        access_key_id=f"AKID{name.upper()}",
        secret_access_key=f"{name}-secret",
        arn=session_arn(f"payments-{name}", "laptop"),
        policy=policy,
    )


MEMBERS = {role.value: holder(role.value, iam_policy("payments", role)) for role in TeamRole}
OTHERS = {
    "another team's owner": holder("ledger", iam_policy("ledger", TeamRole.OWNER)),
    "a stranger whom IAM would let do anything": holder("stranger", full_access()),
    "a stranger whose session is named as the owner": {
        **holder("impostor", full_access()),
        "arn": session_arn("anybody", "payments-owner"),
    },
    "a member without a policy of its own": {
        **holder("bare", iam_policy("ledger", TeamRole.OWNER)),
        "arn": session_arn("payments-owner", "bare"),
    },
}
ADMINISTRATOR = {**holder("admin", full_access()), "arn": ADMIN}


@dataclass
class Door:
    """The local gateway before a stage with the team `payments`, all at the stage's own time."""

    file: CredentialsFile
    front: Front = field(default_factory=lambda: Front.at("2026-03-01T12:00:00Z"))

    def __post_init__(self):
        members = [role_arn(f"payments-{name}") for name in MEMBERS]
        self.front.put("/v1/teams/payments", {"principals": members}, by=ADMIN)
        ledger = [role_arn("payments-ledger")]
        self.front.put("/v1/teams/ledger", {"principals": ledger}, by=ADMIN)
        self.front.job(by=ADMIN)
        self.gateway = Gateway(
            api=self.front.handler,
            verifier=Verifier(self.file.find, REGION),
            clock=self.front.clock,
            new_id=lambda: "request",
            failed=self._failed,
            region=REGION,
        )

    def _failed(self, error):
        raise AssertionError("the API let an exception out") from error

    def call(self, route, who=None, *, secret=None, signed_ago=timedelta(0)):
        """The answer to one call of a route; `who` None: it is not signed."""
        body = b"" if route.takes is None else b"{}"
        path = route.path.format(**PATHS)
        headers = [("Host", "127.0.0.1:8080"), ("Content-Type", "application/json")]
        request = Request(method=route.method, path=path, query="", headers=headers, body=body)
        if who is not None:
            key = self.file.find(who["access_key_id"])
            assert key is not None
            key = (
                key
                if secret is None
                else type(key)(access_key_id=key.access_key_id, secret_access_key=secret, arn=key.arn)
            )
            signed = sign(request, key, REGION, self.front.clock.now() - signed_ago)
            request = Request(method=route.method, path=path, query="", headers=signed, body=body)
        answer = self.gateway.answer(request)
        told = json.loads(answer.body) if answer.body else None
        one = {name: values[0] for name, values in answer.headers.items()}
        self.front.contract.check(route.method, path, answer.status, one, told)
        return answer


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    known = CredentialsFile(tmp_path_factory.mktemp("keys") / "credentials.json")
    known.add([*MEMBERS.values(), *OTHERS.values(), ADMINISTRATOR])
    return known


@pytest.fixture
def door(file):
    return Door(file)


def kind(response):
    return response.headers.get("x-amzn-ErrorType", [json.loads(response.body or b"{}").get("type")])[0]


def test_every_route_has_its_rule_and_the_table_says_the_same():
    assert {route.name: route.role for route in ROUTES} == LEAST


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.name)
class TestARoute:
    def test_knows_nobody_without_a_true_and_fresh_signature(self, door, route):
        for who in (MEMBERS["owner"], ADMINISTRATOR):
            assert kind(door.call(route)) == "MissingAuthenticationTokenException"
            assert kind(door.call(route, who, secret="guessed")) == "InvalidSignatureException"
            assert kind(door.call(route, who, signed_ago=timedelta(minutes=6))) == "InvalidSignatureException"

    def test_lets_each_role_in_from_its_rule_on(self, door, route):
        let_in = {
            role: door.call(route, MEMBERS[role.value]).status != 403
            for role in (Role.READER, Role.OPERATOR, Role.OWNER)
        }
        let_in[Role.ADMIN] = door.call(route, ADMINISTRATOR).status != 403
        least = RISING.index(LEAST[route.name])
        assert let_in == {role: RISING.index(role) >= least for role in let_in}

    def test_is_closed_to_those_of_other_teams_whatever_iam_lets_them(self, door, route):
        refused = {name for name, who in OTHERS.items() if door.call(route, who).status == 403}
        if route.role is Role.ANYONE:
            assert refused == set()
        else:
            assert refused == set(OTHERS)

    def test_refuses_at_least_one_role_that_is_signed_in(self, door, route):
        callers = [*MEMBERS.values(), *OTHERS.values()]
        refused = [who["arn"] for who in callers if door.call(route, who).status == 403]
        assert refused or route.role is Role.ANYONE


@pytest.mark.parametrize("role", Role)
def test_each_role_is_refused_somewhere(door, role):
    if role is Role.ADMIN:
        forged = [
            route for route in ROUTES if door.call(route, ADMINISTRATOR, secret="guessed").status == 403
        ]
        assert len(forged) == len(ROUTES)
    elif role is not Role.ANYONE:
        beyond = [route for route in ROUTES if door.call(route, MEMBERS[role.value]).status == 403]
        assert beyond


def test_a_policy_of_the_reader_lets_nothing_be_written():
    [statement] = iam_policy("payments", TeamRole.READER)["Statement"]
    written = [each for each in statement["Resource"] if "/GET/" not in each]
    assert written == [
        "arn:aws:execute-api:*:*:*/*/POST/v1/preview",
        "arn:aws:execute-api:*:*:*/*/POST/v1/teams/payments/preview",
    ]
