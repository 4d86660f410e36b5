"""The printed policies, held to the table of routes: every route, every role."""

from __future__ import annotations

import re

import pytest

from fencepost.adapters.api.access import Role as Least
from fencepost.adapters.api.routes import ROUTES
from fencepost.cli.policies import Role, api_arn, policy
from fencepost.local.gateway.policy import INVOKE, Decision, Policy, decide

ORDER = [Least.ANYONE, Least.READER, Least.OPERATOR, Least.OWNER, Least.ADMIN]
ARN = "arn:aws:execute-api:eu-central-1:123456789012:a1b2c3/*"
VALUES = {"team": "payments", "job": "nightly", "id": "abc-s-1"}


def asked(role: Role, method: str, path: str) -> bool:
    arn = f"arn:aws:execute-api:eu-central-1:123456789012:a1b2c3/prod/{method}{path}"
    return decide([Policy.parse(policy("payments", role, ARN))], INVOKE, arn) is Decision.ALLOWED


@pytest.mark.parametrize("role", Role)
@pytest.mark.parametrize("route", ROUTES, ids=[route.name for route in ROUTES])
def test_a_role_may_call_what_is_its_own_and_nothing_else(route, role):
    path = re.sub(r"{(\w+)}", lambda found: VALUES.get(found[1], "x"), route.path)
    may = ORDER.index(route.role) <= ORDER.index(Least(role.value))

    assert asked(role, route.method, path) is may


@pytest.mark.parametrize("role", Role)
@pytest.mark.parametrize(
    "path", ["/v1/teams/pay", "/v1/teams/payments-eu", "/v1/teams/payments-eu/jobs/x", "/v1/teams/"]
)
def test_no_other_team_is_reached(role, path):
    assert not asked(role, "GET", path)
    assert not asked(role, "PUT", path)


@pytest.mark.parametrize(
    ("endpoint", "arn"),
    [
        (
            "https://a1b2c3.execute-api.eu-central-1.amazonaws.com/prod",
            "arn:aws:execute-api:eu-central-1:123456789012:a1b2c3/*",
        ),
        (
            "https://a1-vpce-0f.execute-api.us-gov-west-1.vpce.amazonaws.com",
            "arn:aws-us-gov:execute-api:us-gov-west-1:123456789012:a1/*",
        ),
        (
            "https://x9.execute-api.cn-north-1.amazonaws.com.cn/prod",
            "arn:aws-cn:execute-api:cn-north-1:123456789012:x9/*",
        ),
        ("https://cron.example.com", "arn:aws:execute-api:*:123456789012:*/*"),
        ("http://127.0.0.1:8080", "arn:aws:execute-api:*:123456789012:*/*"),
    ],
)
def test_the_policy_is_as_narrow_as_the_endpoint_tells(endpoint, arn):
    assert api_arn(endpoint, "123456789012") == arn
