"""Errors: one tree, drawn where it is defined."""

from __future__ import annotations

import pickle
import re
from pathlib import Path

import pytest

from fencepost.client import errors
from fencepost.client.errors import ApiError, FaultsError, FencepostError, FieldFault, LeaseLostError
from fencepost.client.refusals import error_of
from fencepost.client.transport import HttpAnswer


def drawn(kind: type[FencepostError], depth: int = 0) -> list[tuple[int, str]]:
    below = [line for each in kind.__subclasses__() for line in drawn(each, depth + 1)]
    return [(depth, kind.__name__), *below]


def test_the_tree_in_the_docstring_is_the_tree_in_the_code():
    lines = re.findall(r"^([│├└─ ]*)(\w+Error)", errors.__doc__ or "", re.MULTILINE)

    assert [(len(indent) // 4, name) for indent, name in lines] == drawn(FencepostError)


def test_the_page_shows_the_same_tree():
    page = (Path(__file__).resolve().parents[3] / "docs" / "sdk.md").read_text(encoding="utf-8")

    assert (errors.__doc__ or "").partition("\n\n")[2].strip() in page


@pytest.mark.parametrize(
    ("status", "name"),
    [
        (400, "FaultsError"),
        (401, "NotAllowedError"),
        (403, "NotAllowedError"),
        (404, "NotFoundError"),
        (405, "ApiError"),
        (409, "ConflictError"),
        (412, "ChangedError"),
        (413, "ApiError"),
        (422, "FaultsError"),
        (428, "ChangedError"),
        (429, "ThrottledError"),
        (500, "ServiceError"),
        (503, "ServiceError"),
    ],
)
def test_a_status_names_an_error(status, name):
    error = error_of(HttpAnswer(status=status))

    assert (type(error).__name__, error.status) == (name, status)


@pytest.mark.parametrize("kind", ["stale-fence", "lease-lost"])
def test_a_lost_lease_has_an_error_of_its_own(kind):
    body = f'{{"type": "urn:fencepost:problem:{kind}", "detail": "stop the work"}}'.encode()

    assert isinstance(error_of(HttpAnswer(status=409, body=body)), LeaseLostError)


def test_the_gateways_own_refusals_are_read():
    error = error_of(
        HttpAnswer(
            status=403,
            headers={"x-amzn-errortype": "ExpiredTokenException:http://internal.amazon.com/"},
            body=b'{"message": "The security token included in the request is expired"}',
        )
    )

    assert (error.kind, str(error)) == (
        "ExpiredTokenException",
        "The security token included in the request is expired",
    )


def test_every_fault_is_told_with_its_remedy():
    error = error_of(
        HttpAnswer(
            status=422,
            body=b'{"type": "urn:fencepost:problem:faults", "detail": "2 faults", "faults": ['
            b'{"field": "schedule.cron", "value": "x", "rule": "is no cron", "suggestion": "0 9 * * *"}, 7,'
            b'{"field": "tier", "value": "x", "rule": "is no tier", "suggestion": null}]}',
        )
    )

    assert str(error) == "schedule.cron: is no cron (try: 0 9 * * *); tier: is no tier"
    assert [fault.field for fault in error.faults] == ["schedule.cron", "tier"]


def test_an_error_survives_a_process_boundary():
    error = FaultsError(422, "faults", "one", (FieldFault(field="tier", rule="is no tier"),))

    again = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own bytes

    assert isinstance(again, ApiError)
    assert (again.status, again.kind, again.detail, again.faults) == (422, "faults", "one", error.faults)
