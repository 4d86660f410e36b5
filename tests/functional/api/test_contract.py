"""The document, the table of routes and the answers are one thing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pydantic import TypeAdapter

from fencepost.adapters.api import openapi, shapes
from fencepost.adapters.api.access import Role
from fencepost.adapters.api.routes import ROUTES
from fencepost.domain.egress import EgressPolicy
from fencepost.domain.instants import from_wire
from fencepost.domain.schedule import parse_schedule, schedule_to_wire
from fencepost.domain.targets import parse_target, target_to_wire
from tests.support.api import ADMIN, OWNER, STRANGER, Front
from tests.support.documents import Contract

COMMITTED = Path(__file__).resolve().parents[3] / "docs" / "openapi.json"
NOW = from_wire("2026-03-01T12:00:00Z")
PATHS = {
    "team": "payments",
    "job": "report",
    "key": "a" * 20,
    "calendar": "holidays",
    "backfill": "0" * 12,
    "id": "a" * 20 + "-s-1772366400000",
}


def test_the_committed_document_is_current():
    """To renew it: python -m fencepost.adapters.api.openapi > docs/openapi.json."""
    assert COMMITTED.read_text(encoding="utf-8") == openapi.text()


def test_every_reference_leads_somewhere():
    document = openapi.document()

    def references(value):
        if isinstance(value, dict):
            yield from ([value["$ref"]] if "$ref" in value else [])
            for each in value.values():
                yield from references(each)
        elif isinstance(value, list):
            for each in value:
                yield from references(each)

    found = set(references(document))
    assert found
    known = {
        f"#/components/{kind}/{name}" for kind, named in document["components"].items() for name in named
    }
    assert found <= known
    assert "x-refers" not in json.dumps(document)


GATEWAYS: dict[str, list[dict[str, str | None]]] = {
    "403": [
        {"Message": "User: x is not authorized to perform: execute-api:Invoke"},
        {"message": "Forbidden"},
    ],
    "413": [{"message": "Request Too Long"}],
    "429": [{"message": "Too Many Requests"}, {"message": None}],
    "5XX": [{"message": "Internal server error"}, {"message": "Endpoint request timed out"}],
}


def test_what_the_gateway_says_by_itself_is_told_of_every_route():
    document = openapi.document()
    contract = Contract(document)
    operations = [each for methods in document["paths"].values() for each in methods.values()]
    assert len(operations) == len(ROUTES)
    for operation in operations:
        for status, bodies in GATEWAYS.items():
            response = operation["responses"][status]
            if "$ref" in response:
                kind, name = response["$ref"].removeprefix("#/components/").split("/")
                response = document["components"][kind][name]
            for body in bodies:
                contract.holds(response["content"]["application/json"]["schema"], body)


def test_names_are_given_once():
    names = [route.name for route in ROUTES]
    assert len(set(names)) == len(names)
    assert len({(route.method, route.path) for route in ROUTES}) == len(ROUTES)


def test_team_routes_ask_for_more_than_a_signature():
    for route in ROUTES:
        if "team" in route.variables:
            assert (route.role is Role.READER) == (not route.writes), route.name
            assert route.role is not Role.ANYONE, route.name
        else:
            assert route.role is Role.ADMIN or (route.role is Role.ANYONE and not route.writes), route.name


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.name)
@pytest.mark.parametrize(("by", "admitted"), [(None, False), (STRANGER, False), (OWNER, True), (ADMIN, True)])
def test_every_route_looks_at_its_caller_again(route, by, admitted):
    """IAM policies are the boundary; a caller who came past them is still nobody here."""
    front = Front.at("2026-03-01T12:00:00Z")
    front.job()
    path = route.path.format(**PATHS)
    body: object = None if route.takes is None else {}
    reply = front.call(route.method, path, body, by=by)
    welcome = by == ADMIN if route.role is Role.ADMIN else admitted
    if (by is not None and route.role is Role.ANYONE) or welcome:
        assert reply.status != 403
    else:
        assert (reply.status, reply.body["type"]) == (403, "urn:fencepost:problem:forbidden")


SCHEDULES = [
    {"cron": "30 2 * * *", "timezone": "Europe/Berlin"},
    {"cron": "30 2 * * *", "dst": {"gap": "skip", "overlap": "last"}, "jitter_seconds": 30},
    {"every": "PT15M"},
    {"every": "P1D", "anchor": "2026-03-01T00:00:00Z", "max_firings": 3, "exclude": ["holidays"]},
    {"at": "2026-12-24T18:00:00Z"},
    {"in": "PT15M", "end_at": "2027-01-01T00:00:00Z"},
]
TARGETS = [
    {"webhook": {"url": "https://example.com/", "headers": {"X-A": "b"}}},
    {"sqs": {"queue_url": "https://sqs.eu-central-1.amazonaws.com/111122223333/q"}},
    {"lambda": {"function_arn": "arn:aws:lambda:eu-central-1:111122223333:function:f"}},
    {"sns": {"topic_arn": "arn:aws:sns:eu-central-1:111122223333:t"}},
    {"eventbridge": {"bus_arn": "arn:aws:events:eu-central-1:111122223333:event-bus/b"}},
    {"step_functions": {"state_machine_arn": "arn:aws:states:eu-central-1:111122223333:stateMachine:m"}},
]


@pytest.mark.parametrize("raw", SCHEDULES, ids=lambda raw: next(iter(raw)))
def test_the_shape_of_schedules_is_what_the_domain_reads_and_writes(raw):
    shape = TypeAdapter(shapes.Schedule)
    shape.validate_python(raw)
    shape.validate_python(schedule_to_wire(parse_schedule(raw, now=NOW)))


@pytest.mark.parametrize("raw", TARGETS, ids=lambda raw: next(iter(raw)))
def test_the_shape_of_targets_is_what_the_domain_reads_and_writes(raw):
    shape = TypeAdapter(shapes.Target)
    shape.validate_python(raw)
    shape.validate_python(target_to_wire(parse_target(raw, EgressPolicy())))
