"""Many jobs in one call: each item is judged, written and answered as if it had come alone."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from fencepost.adapters.api import jobs
from fencepost.adapters.api.http import Answer, Request
from fencepost.adapters.api.models import BulkBody, BulkItem
from fencepost.adapters.api.parts import done_before, one_of
from fencepost.adapters.api.problems import etag, unavailable
from fencepost.adapters.api.reading import checked, read_object

LONGEST = timedelta(seconds=20)


def bulk(request: Request) -> Answer:
    """Puts and deletes in order, for as long as the caller may wait; 503 stands for what was not tried."""
    body = checked(BulkBody, read_object(request.body))
    clock = request.services.registry.clock
    begun, done = clock.now(), done_before(request)
    results = []
    for number, item in enumerate(body.items):
        effect = done.get(str(number))
        late = clock.now() - begun > LONGEST
        if late and effect is None:
            results.append(_result(item, unavailable("not tried: the call took too long")))
        else:
            results.append(_result(item, _one(replace(request, effect=effect), str(number), item)))
    return Answer(body={"results": results})


def _one(request: Request, part: str, item: BulkItem) -> Answer:
    headers = {} if item.revision is None else {"if-match": etag(item.revision)}
    path = {**request.path, "job": item.name}
    alone = replace(request, path=path, headers=headers, body=item.job)
    return one_of(alone, part, jobs.delete if item.job is None else jobs.put)


def _result(item: BulkItem, answer: Answer) -> dict[str, object]:
    fields = answer.body if isinstance(answer.body, dict) else {}
    done = answer.status < 400
    return {
        "name": item.name[:63],
        "action": "delete" if item.job is None else "put",
        "status": answer.status,
        "revision": fields.get("revision") if done else None,
        "uid": fields.get("uid") if done else None,
        "problem": None if done else fields,
    }
