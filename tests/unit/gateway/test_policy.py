"""IAM policies on paths: what the gateway understands, and that it refuses what it does not."""

from __future__ import annotations

import pytest

from fencepost.domain.iam import TeamRole, iam_policy
from fencepost.local.gateway.policy import (
    INVOKE,
    Decision,
    Policy,
    PolicyError,
    decide,
    full_access,
    invocation,
)


def policy(*statements):
    return Policy.parse({"Version": "2012-10-17", "Statement": list(statements)})


def statement(effect="Allow", action=INVOKE, resource="*"):
    return {"Effect": effect, "Action": action, "Resource": resource}


def call(path, method="GET"):
    return invocation("us-east-1", "local", method, path)


@pytest.mark.parametrize(
    ("method", "path", "decision"),
    [
        ("GET", "/v1/teams/payments", Decision.ALLOWED),
        ("PUT", "/v1/teams/payments/jobs/nightly", Decision.ALLOWED),
        ("GET", "/v1/health", Decision.ALLOWED),
        ("POST", "/v1/preview", Decision.ALLOWED),
        ("GET", "/v1/teams/payments-eu/jobs", Decision.NOT_ALLOWED),
        ("GET", "/v1/teams", Decision.ALLOWED),  # which lists what the caller may see
        ("DELETE", "/v1/teams/payments", Decision.NOT_ALLOWED),
        ("GET", "/v1/teams/logistics/jobs", Decision.NOT_ALLOWED),
        ("DELETE", "/v1/stage", Decision.NOT_ALLOWED),
    ],
)
def test_an_owner_reaches_its_own_team_and_nothing_else(method, path, decision):
    assert (
        decide([Policy.parse(iam_policy("payments", TeamRole.OWNER))], INVOKE, call(path, method)) is decision
    )


def test_full_access_is_that():
    assert decide([Policy.parse(full_access())], INVOKE, call("/v1/teams/any", "DELETE")) is Decision.ALLOWED


def test_without_a_policy_nothing_is_allowed():
    assert decide([], INVOKE, call("/v1/health")) is Decision.NOT_ALLOWED


def test_a_denial_wins_wherever_it_stands():
    denial = statement("Deny", resource="*/DELETE/*")
    for order in ([statement(), denial], [denial, statement()]):
        assert decide([policy(*order)], INVOKE, call("/v1/teams/a", "DELETE")) is Decision.DENIED
        assert decide([policy(*order)], INVOKE, call("/v1/teams/a")) is Decision.ALLOWED
    apart = [policy(statement()), policy(denial)]
    assert decide(apart, INVOKE, call("/v1/teams/a", "DELETE")) is Decision.DENIED


def test_patterns_know_star_and_question_mark_and_nothing_more():
    one = [policy(statement(resource=call("/v1/teams/team-?")))]
    assert decide(one, INVOKE, call("/v1/teams/team-a")) is Decision.ALLOWED
    assert decide(one, INVOKE, call("/v1/teams/team-ab")) is Decision.NOT_ALLOWED
    dotted = [policy(statement(resource=call("/v1/teams/a.c")))]
    assert decide(dotted, INVOKE, call("/v1/teams/abc")) is Decision.NOT_ALLOWED


def test_actions_compare_without_case_and_resources_with_it():
    allowed = [policy(statement(action="EXECUTE-API:*", resource=call("/v1/teams/a")))]
    assert decide(allowed, INVOKE, call("/v1/teams/a")) is Decision.ALLOWED
    assert decide(allowed, INVOKE, call("/v1/teams/A")) is Decision.NOT_ALLOWED
    assert decide([policy(statement(action="s3:GetObject"))], INVOKE, call("/v1")) is Decision.NOT_ALLOWED


@pytest.mark.parametrize(
    "document",
    [
        [],
        {},
        {"Statement": ["Allow"]},
        {"Statement": {**statement(), "Condition": {"IpAddress": {}}}},
        {"Statement": {"Effect": "Allow", "NotAction": "x", "Resource": "*"}},
        {"Statement": statement(effect="Perhaps")},
        {"Statement": statement(action=[])},
        {"Statement": statement(resource=[1])},
    ],
)
def test_what_is_not_understood_is_refused_not_ignored(document):
    with pytest.raises(PolicyError):
        Policy.parse(document)
