from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.adapters.api.bodies_upkeep import BackfillBody
from fencepost.adapters.api.cursors import Cursors
from fencepost.adapters.api.identity import principal_of
from fencepost.adapters.api.merging import merged
from fencepost.adapters.api.problems import ProblemError
from fencepost.adapters.api.reading import checked, compact_json, read_json
from fencepost.domain.faults import Faults

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**12), 10**12)
    | st.text(st.characters(codec="utf-8"), max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(st.characters(codec="utf-8"), max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)
CURSORS = Cursors(b"k" * 32)


class TestCursors:
    @given(scope=st.text(max_size=20), position=JSON)
    def test_what_was_sealed_is_opened(self, scope, position):
        assert CURSORS.open(scope, CURSORS.seal(scope, position)) == position

    @given(position=JSON, other=st.text(max_size=20))
    def test_no_other_scope_opens_it(self, position, other):
        if other != "a":
            with pytest.raises(Faults):
                CURSORS.open(other, CURSORS.seal("a", position))

    @given(st.text(max_size=60))
    def test_what_was_never_sealed_is_refused(self, text):
        with pytest.raises(Faults):
            CURSORS.open("a", text)

    def test_another_stages_key_opens_nothing(self):
        with pytest.raises(Faults):
            Cursors(b"x" * 32).open("a", CURSORS.seal("a", 1))


@pytest.mark.parametrize(
    ("arn", "principal"),
    [
        ("arn:aws:sts::111122223333:assumed-role/deploy/session", "arn:aws:iam::111122223333:role/deploy"),
        ("arn:aws:sts::111122223333:assumed-role/deploy/a/b", "arn:aws:iam::111122223333:role/deploy"),
        ("arn:aws-cn:sts::111122223333:assumed-role/deploy/s", "arn:aws-cn:iam::111122223333:role/deploy"),
        ("arn:aws:iam::111122223333:role/ci/deploy", "arn:aws:iam::111122223333:role/deploy"),
        ("arn:aws:iam::111122223333:user/ops/lena", "arn:aws:iam::111122223333:user/lena"),
        ("arn:aws:iam::111122223333:root", "arn:aws:iam::111122223333:root"),
        ("arn:aws:sts::111122223333:assumed-role/deploy", None),
        ("arn:aws:sts::111122223333:federated-user/lena", None),
        ("arn:aws:iam::1111:role/deploy", None),
        ("deploy", None),
        ("", None),
    ],
)
def test_a_principal_is_account_and_role(arn, principal):
    assert principal_of(arn) == principal


class TestMerging:
    @given(st.dictionaries(st.sampled_from(["tier", "labels", "retry", "x"]), JSON, max_size=4))
    def test_an_empty_patch_changes_nothing(self, declaration):
        assert merged(declaration, {}) == declaration

    @given(JSON.filter(lambda value: value is not None))
    def test_a_payload_is_replaced_as_a_whole(self, value):
        assert merged({"payload": {"a": 1}}, {"payload": value})["payload"] == value

    @given(st.dictionaries(st.text(max_size=3), st.text(max_size=3), max_size=4), st.data())
    def test_a_patch_is_idempotent(self, labels, data):
        patch = {
            "labels": data.draw(
                st.dictionaries(st.text(max_size=3), st.none() | st.text(max_size=3), max_size=4)
            )
        }
        once = merged({"labels": labels}, patch)
        assert merged(once, patch) == once

    @pytest.mark.parametrize(
        ("old", "new", "expected"),
        [
            ({"cron": "a", "timezone": "Z"}, {"cron": "b"}, {"cron": "b", "timezone": "Z"}),
            ({"cron": "a", "timezone": "Z"}, {"timezone": "Y"}, {"cron": "a", "timezone": "Y"}),
            (
                {"cron": "a", "timezone": "Z", "end_at": "e"},
                {"every": "PT5M"},
                {"every": "PT5M", "end_at": "e"},
            ),
            ({"every": "PT5M", "anchor": "x"}, {"every": "PT6M"}, {"every": "PT6M", "anchor": "x"}),
            ({"at": "x"}, {"in": "PT5M"}, {"in": "PT5M"}),
            ({"cron": "a", "end_at": "e"}, {"end_at": None}, {"cron": "a"}),
            ({"cron": "a"}, "daily", "daily"),
        ],
    )
    def test_schedules(self, old, new, expected):
        assert merged({"schedule": old}, {"schedule": new})["schedule"] == expected


class TestJson:
    @given(JSON)
    def test_what_is_written_is_read_back(self, value):
        assert read_json(compact_json(value).decode()) == value

    @given(st.text(max_size=40))
    def test_any_text_is_a_value_or_a_refusal(self, text):
        try:
            expected = json.loads(text, parse_constant=int) if text else None
        except ValueError:
            with pytest.raises(ProblemError):
                read_json(text)
        else:
            assert read_json(text) == expected

    @pytest.mark.parametrize(
        ("text", "says"),
        [
            ('{"payload": 1e999}', "the body is not JSON: the number 1e999 is too large"),
            ('{"payload": -1E400}', "the body is not JSON: the number -1E400 is too large"),
            ("9" * 5_000, "the body is not JSON: a number has 5,000 digits; at most 1,000 are read"),
            ("[" * 65 + "]" * 65, "the body is nested more than 64 deep"),
            ("[" * 100_000, "the body is nested more than 64 deep"),
            ('"\\ud800"', "the body is not JSON: it holds half of a surrogate pair"),
        ],
    )
    def test_what_could_not_be_sent_on_is_refused_in_our_own_words(self, text, says):
        with pytest.raises(ProblemError) as told:
            read_json(text)
        assert told.value.answer.status == 400
        assert f"'detail': '{says}'" in str(told.value)

    def test_an_unknown_field_is_told_with_the_names_of_the_wire(self):
        with pytest.raises(Faults) as told:
            checked(BackfillBody, {"from": "2026-03-01T00:00:00Z", "to": "2026-03-02T00:00:00Z", "rates": 5})
        fault = told.value.faults[0]
        assert "known: force, from, note, overlap, rate, to" in fault.rule
        assert fault.suggestion == "rate"
