"""`docs/resources.md` maps every resource to its reason: nothing is deployed that it does not name, and the reverse."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from fencepost.domain.model import Tier
from fencepost.runtime.observability import SPECS
from infra.names import QUEUES, TABLES, Fn
from tests.support.stacks import ROOT, synthesised

pytestmark = pytest.mark.xdist_group("infra")

TEXT = (ROOT / "docs" / "resources.md").read_text()
AS_ROUTED = "as routed"


def rows():
    """Type, number, why, cost."""
    return re.findall(r"^\| `(AWS::\w+::\w+)` \| (\d+|as routed) \| (.+?) \| (.+?) \|$", TEXT, re.MULTILINE)


def test_every_resource_is_named_with_its_number():
    deployed = Counter(resource["Type"] for resource in synthesised("prod").resources().values())
    named = {kind: number for kind, number, _, _ in rows()}
    assert named.keys() == deployed.keys()
    assert {kind for kind, number in named.items() if number == AS_ROUTED} == {
        "AWS::ApiGateway::Method",
        "AWS::ApiGateway::Resource",
    }
    counted = {kind: int(number) for kind, number in named.items() if number != AS_ROUTED}
    assert counted == {kind: deployed[kind] for kind in counted}


def test_every_resource_has_a_reason_and_a_price():
    for kind, _, why, cost in rows():
        assert len(why) > 8, kind
        assert re.search(r"\$\d|nothing|small", cost), kind


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("AWS::DynamoDB::GlobalTable", TABLES),
        ("AWS::SQS::Queue", (*QUEUES, "probe")),
        ("AWS::Lambda::Function", tuple(Fn)),
    ],
)
def test_each_table_queue_and_function_is_named(kind, words):
    (why,) = [why for each, _, why, _ in rows() if each == kind]
    assert set(re.findall(r"`([a-z-]+)`", why)) == set(words)


def test_the_custom_metrics_are_counted():
    by_tier = sum(spec.by_tier for spec in SPECS.values())
    said = re.search(r"Custom metrics: (\d+), (\w+) of them by tier too, (\d+) distinct sets", TEXT)
    assert said is not None
    words = ("none", "one", "two", "three", "four", "five", "six", "seven")
    assert (int(said[1]), words.index(said[2]), int(said[3])) == (
        len(SPECS),
        by_tier,
        len(SPECS) + by_tier * len(Tier),
    )
