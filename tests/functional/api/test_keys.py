"""Signing keys over HTTP: told once, sealed at rest, two valid at a time, and never dropped while receivers need them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import chain

import pytest

from fencepost.adapters.ed25519 import Ed25519Verifier
from fencepost.application.store import Table
from tests.support.api import ADMIN, OWNER_ROLE, Front

PAYMENTS = "/v1/teams/payments"
KEYS = PAYMENTS + "/keys"
ROTATE = KEYS + "/rotate"


@pytest.fixture
def front():
    return Front.at()


def everything(front):
    """All that is stored, as text."""
    return repr(list(chain.from_iterable(front.memory.everything(table) for table in Table)))


def ids(reply):
    return [key["id"] for key in reply.body["items"]]


class TestASecretIsToldOnce:
    def test_when_it_is_made(self, front):
        made = front.post(KEYS, {"scheme": "v1"})
        assert (made.status, made.body["made"]["scheme"]) == (201, "v1")
        assert made.body["secret"].startswith("whsec_")
        assert made.body["items"] == [made.body["made"]]

    def test_R12_and_never_again(self, front):
        secret = front.post(KEYS).body["secret"]
        for path in (KEYS, PAYMENTS, PAYMENTS + "/revisions"):
            assert secret not in repr(front.get(path).body)
        assert secret not in everything(front)

    def test_of_a_pair_only_the_public_half_is_served(self, front):
        made = front.post(KEYS, {"scheme": "v1a"})
        assert made.body["secret"] is None
        [key] = front.get(KEYS).body["items"]
        assert key["public"] == made.body["made"]["public"]
        Ed25519Verifier.parse(key["public"])
        assert "whsk_" not in everything(front)

    def test_the_trail_names_the_key_and_who_made_it_and_no_secret(self, front):
        made = front.post(KEYS, {"scheme": "v1", "note": "the first one"})
        [entry, *_] = front.get(PAYMENTS + "/revisions").body["items"]
        assert (entry["what"], entry["actor"], entry["note"]) == ("make_key", OWNER_ROLE, "the first one")
        assert (entry["before"], entry["after"]) == ({"keys": []}, {"keys": [made.body["made"]]})

    def test_a_repeated_request_is_answered_alike_and_its_answer_lies_in_an_envelope(self, front):
        repeat = {"Idempotency-Key": "once"}
        first = front.post(KEYS, headers=repeat)
        again = front.post(KEYS, headers=repeat)
        assert (again.body, again.headers["Idempotency-Replayed"]) == (first.body, "true")
        assert len(front.get(KEYS).body["items"]) == 1
        assert first.body["secret"] not in everything(front)

    def test_a_repetition_without_the_key_service_is_told_to_come_again(self, front):
        repeat = {"Idempotency-Key": "once"}
        front.post(KEYS, headers=repeat)
        front.stage.vault.down = True
        assert front.post(KEYS, headers=repeat).status == 503


def test_without_the_key_service_nothing_is_made(front):
    front.stage.vault.down = True
    reply = front.post(KEYS)
    assert (reply.status, reply.headers["Retry-After"]) == (503, "1")
    assert front.get(KEYS).body["items"] == []


def test_R12_a_team_declared_anew_or_patched_keeps_its_keys(front):
    kept = front.post(KEYS).body["items"]
    front.put(PAYMENTS, {"principals": [OWNER_ROLE], "retention_days": 40})
    front.patch(PAYMENTS, {"retention_days": 60})
    assert front.get(KEYS).body["items"] == kept


def test_another_team_never_sees_them(front):
    front.put("/v1/teams/ledger", {}, by=ADMIN)
    front.post(KEYS)
    assert front.get("/v1/teams/ledger/keys", by=ADMIN).body["items"] == []
    assert front.get("/v1/teams/ledger/keys").status == 403


class TestRolling:
    def test_R09_a_second_key_signs_beside_the_first_and_a_third_has_to_wait(self, front):
        first, second = (front.post(KEYS).body["made"]["id"] for _ in range(2))
        assert ids(front.get(KEYS)) == [first, second]
        reply = front.post(KEYS)
        assert (reply.status, reply.body["type"]) == (409, "urn:fencepost:problem:not-allowed")

    def test_R09_rotation_refuses_while_the_previous_key_is_inside_the_overlap(self, front):
        first = front.post(ROTATE).body["made"]["id"]
        front.clock.advance(days=30)
        second = front.post(ROTATE).body["made"]["id"]
        front.clock.advance(hours=23, minutes=59)
        refused = front.post(ROTATE)
        assert (refused.status, "2026-04-01T12:00:00.000Z" in refused.body["detail"]) == (409, True)
        assert ids(front.get(KEYS)) == [first, second]
        front.clock.advance(minutes=1)
        third = front.post(ROTATE).body["made"]["id"]
        assert ids(front.get(KEYS)) == [second, third]

    def test_R09_no_key_is_dropped_inside_the_overlap(self, front):
        first, second = (front.post(KEYS).body["made"]["id"] for _ in range(2))
        assert front.get(KEYS).body["overlap_until"] == "2026-03-02T12:00:00.000Z"
        assert [front.delete(f"{KEYS}/{each}").status for each in (first, second)] == [409, 409]
        front.clock.advance(hours=24)
        assert ids(front.delete(f"{KEYS}/{first}")) == [second]
        assert front.delete(f"{KEYS}/{first}").status == 404

    def test_each_scheme_has_its_two_and_one_may_follow_the_other(self, front):
        old = front.post(KEYS, {"scheme": "v1"}).body["made"]["id"]
        new = [front.post(KEYS, {"scheme": "v1a"}).body["made"]["id"] for _ in range(2)]
        front.clock.advance(hours=24)
        assert ids(front.delete(f"{KEYS}/{old}")) == new

    def test_the_last_key_stays_unless_it_is_compromised(self, front):
        only = front.post(KEYS).body["made"]["id"]
        front.clock.advance(days=2)
        refused = front.delete(f"{KEYS}/{only}")
        assert (refused.status, "last key" in refused.body["detail"]) == (409, True)
        assert ids(front.delete(f"{KEYS}/{only}?compromised=true")) == []

    def test_a_compromised_key_goes_at_once_and_the_trail_says_so(self, front):
        first, second = (front.post(KEYS).body["made"]["id"] for _ in range(2))
        assert ids(front.delete(f"{KEYS}/{second}?compromised=true")) == [first]
        assert front.get(PAYMENTS + "/revisions").body["items"][0]["what"] == "drop_compromised_key"

    def test_of_many_who_make_a_key_at_once_two_do(self, front):
        with ThreadPoolExecutor(6) as pool:
            statuses = sorted(pool.map(lambda _: front.post(KEYS).status, range(6)))
        assert statuses == [201, 201, 409, 409, 409, 409]
        assert len(front.get(KEYS).body["items"]) == 2


def test_an_unknown_scheme_is_a_fault(front):
    assert list(front.post(KEYS, {"scheme": "v2"}).faults) == ["scheme"]


def test_rotate_is_a_word_of_its_own_and_no_key(front):
    reply = front.delete(ROTATE)
    assert (reply.status, reply.headers["Allow"]) == (405, "POST")
