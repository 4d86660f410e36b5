"""Requests made from the document, right and wrong ones, signed and not, to the local gateway: no answer that the document
does not announce, and none that is a 5xx.
"""

from __future__ import annotations

import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.config import SchemathesisConfig
from schemathesis.specs.openapi.checks import (
    negative_data_rejection,
    positive_data_acceptance,
    unsupported_method,
)

from fencepost.adapters.api.openapi import document
from fencepost.local.gateway.credentials import Credential
from fencepost.local.gateway.gateway import Gateway
from fencepost.local.gateway.policy import Policy, full_access
from fencepost.local.gateway.signature import Verifier
from tests.support.api import ADMIN, Front
from tests.support.wsgi import wsgi

FRONT = Front.at("2026-03-01T12:00:00Z")
FRONT.job()
FAILED: list[Exception] = []
HOLDER = Credential(
    access_key_id="AKIDADMIN", secret_access_key="secret", arn=ADMIN, policies=(Policy.parse(full_access()),)
)
GATEWAY = Gateway(
    api=FRONT.handler,
    verifier=Verifier({HOLDER.access_key_id: HOLDER}.get, "us-east-1"),
    clock=FRONT.clock,
    new_id=lambda: "request",
    failed=FAILED.append,
    region="us-east-1",
)
# The requests are signed after they are made: no generator knows how.
OPEN = {name: part for name, part in document().items() if name != "security"}
REFUSALS = {"expected-statuses": ["400", "403", "404", "405", "409", "412", "422"]}
CONFIG = SchemathesisConfig.from_dict({"checks": {"negative_data_rejection": REFUSALS}})
SCHEMA = schemathesis.openapi.from_dict(OPEN, config=CONFIG)
SCHEMA.app = wsgi(GATEWAY, HOLDER)
NOBODYS = schemathesis.openapi.from_dict(OPEN, config=CONFIG)
NOBODYS.app = wsgi(GATEWAY, None)
# A gateway answers for methods that are not there; and no schema can say which zones exist or which cursor is whose.
NOT_HERE = [unsupported_method, positive_data_acceptance]
# Each item of a bulk call is judged and answered by itself; the call as such is well.
BY_ITEM = [*NOT_HERE, negative_data_rejection]


@SCHEMA.parametrize()
@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
def test_what_the_document_says_is_true(case):
    case.call_and_validate(excluded_checks=BY_ITEM if case.operation.path.endswith("/bulk") else NOT_HERE)
    assert FAILED == []


@NOBODYS.parametrize()
@settings(max_examples=3, deadline=None, suppress_health_check=list(HealthCheck))
def test_P10_whatever_is_not_signed_is_refused_as_the_document_says(case):
    assert case.call_and_validate(excluded_checks=BY_ITEM).status_code in {400, 403}
    assert FAILED == []
