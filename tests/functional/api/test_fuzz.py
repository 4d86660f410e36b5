"""Requests made from the document, right and wrong ones: no answer that it does not announce, none that is a 5xx."""

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
from tests.support.api import Front
from tests.support.wsgi import wsgi

FRONT = Front.at("2026-03-01T12:00:00Z")
FRONT.job()
UNSIGNED = {
    name: part for name, part in document().items() if name != "security"
}  # the gateway judges signatures
REFUSALS = {"expected-statuses": ["400", "403", "404", "405", "409", "412", "422"]}
CONFIG = SchemathesisConfig.from_dict({"checks": {"negative_data_rejection": REFUSALS}})
SCHEMA = schemathesis.openapi.from_dict(UNSIGNED, config=CONFIG)
SCHEMA.app = wsgi(FRONT.handler)
# A gateway answers for methods that are not there; and no schema can say which zones exist or which cursor is whose.
NOT_HERE = [unsupported_method, positive_data_acceptance]
# Each item of a bulk call is judged and answered by itself; the call as such is well.
BY_ITEM = [*NOT_HERE, negative_data_rejection]


@SCHEMA.parametrize()
@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
def test_what_the_document_says_is_true(case):
    case.call_and_validate(excluded_checks=BY_ITEM if case.operation.path.endswith("/bulk") else NOT_HERE)
