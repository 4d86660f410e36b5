"""AWS Signature Version 4, both ways: sign a request, and verify one for real.

Written against the published rules and nothing else, so that the tests can hold it against other implementations.
"""

from __future__ import annotations

import hashlib
import hmac
import posixpath
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from urllib.parse import quote, unquote_plus

from fencepost.local.gateway.credentials import Credential
from fencepost.local.gateway.request import Request

ALGORITHM = "AWS4-HMAC-SHA256"
SERVICE = "execute-api"
CLOCK_WINDOW = timedelta(minutes=5)
_STAMP = "%Y%m%dT%H%M%SZ"
_AUTHORIZATION = re.compile(
    rf"{ALGORITHM}\s+Credential=(?P<key>[^/,\s]+)/(?P<date>\d{{8}})/(?P<region>[^/,\s]+)/(?P<service>[^/,\s]+)"
    r"/aws4_request\s*,\s*SignedHeaders=(?P<headers>[^,\s]+)\s*,\s*Signature=(?P<signature>[0-9a-f]{64})"
)


@dataclass(frozen=True, slots=True)
class Unverified:
    """Nobody knows who sent this. `kind` is AWS's word, `detail` says what to mend."""

    kind: str
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Claim:
    """What an Authorization header claims."""

    key: str
    date: str
    region: str
    service: str
    headers: tuple[str, ...]
    signature: str


class Verifier:
    """Finds out who signed a request. `find` gives the credential of an access key id, None for an unknown one."""

    def __init__(self, find: Callable[[str], Credential | None], region: str) -> None:
        self._find = find
        self._region = region

    def verify(self, request: Request, now: datetime) -> Credential | Unverified:
        """Checks scope, clock window, payload hash and signature, in this order."""
        claim = _claim(request)
        if isinstance(claim, Unverified):
            return claim
        signed_at = _signed_at(request)
        fault = self._scope_fault(claim, signed_at, now) or _headers_fault(request, claim)
        if fault is not None or signed_at is None:
            return fault or _INCOMPLETE
        credential = self._find(claim.key)
        if credential is None or not _same_token(request, credential):
            return Unverified(
                "UnrecognizedClientException", "the access key or session token is unknown here"
            )
        expected = signature_of(request, claim.headers, signed_at, credential.secret_access_key, self._region)
        if not hmac.compare_digest(expected, claim.signature):
            detail = (
                "the signature does not match: the secret key, or what was signed, differs from what came"
            )
            return Unverified("InvalidSignatureException", detail)
        return credential

    def _scope_fault(self, claim: _Claim, signed_at: datetime | None, now: datetime) -> Unverified | None:
        if signed_at is None:
            return Unverified("IncompleteSignatureException", "X-Amz-Date is missing or is no date")
        if (claim.region, claim.service) != (self._region, SERVICE):
            wanted = f"credential scope must be {self._region}/{SERVICE}, not {claim.region}/{claim.service}"
            return Unverified("InvalidSignatureException", wanted)
        if f"{signed_at:%Y%m%d}" != claim.date:
            return Unverified("InvalidSignatureException", "the credential's date is not that of X-Amz-Date")
        if abs(now - signed_at) > CLOCK_WINDOW:
            detail = f"signed at {signed_at:{_STAMP}}, but it is {now:{_STAMP}}: more than 5 minutes apart"
            return Unverified("InvalidSignatureException", detail)
        return None


_MISSING = Unverified(
    "MissingAuthenticationTokenException", "every call is signed (SigV4, service execute-api)"
)
_INCOMPLETE = Unverified("IncompleteSignatureException", "the Authorization header is not a SigV4 one")


def _claim(request: Request) -> _Claim | Unverified:
    values = request.values("authorization")
    if not values:
        return _MISSING
    match = _AUTHORIZATION.fullmatch(values[0].strip()) if len(values) == 1 else None
    if match is None:
        return _INCOMPLETE
    return _Claim(
        key=match["key"],
        date=match["date"],
        region=match["region"],
        service=match["service"],
        headers=tuple(match["headers"].split(";")),
        signature=match["signature"],
    )


def _headers_fault(request: Request, claim: _Claim) -> Unverified | None:
    """Host and everything of X-Amz-... must be under the signature, and the named payload hash must be true."""
    must = {"host"} | {name.lower() for name, _ in request.headers if name.lower().startswith("x-amz-")}
    missing = sorted(must - set(claim.headers))
    if missing:
        return Unverified("InvalidSignatureException", f"these headers must be signed: {', '.join(missing)}")
    named = request.header("x-amz-content-sha256")
    if named is not None and named != payload_hash(request.body):
        return Unverified("InvalidSignatureException", "x-amz-content-sha256 is not the hash of the body")
    return None


def _same_token(request: Request, credential: Credential) -> bool:
    given, wanted = request.header("x-amz-security-token") or "", credential.session_token or ""
    return hmac.compare_digest(given.encode(), wanted.encode())


def _signed_at(request: Request) -> datetime | None:
    try:
        return datetime.strptime(request.header("x-amz-date") or "", _STAMP).replace(tzinfo=UTC)
    except ValueError:
        return None


def sign(request: Request, credential: Credential, region: str, now: datetime) -> list[tuple[str, str]]:
    """The request's headers and those that sign it. Host must be among the headers already."""
    extra = [("X-Amz-Date", f"{now:{_STAMP}}")]
    if credential.session_token is not None:
        extra.append(("X-Amz-Security-Token", credential.session_token))
    headers = [*request.headers, *extra]
    names = sorted({name.lower() for name, _ in headers})
    dated = Request(
        method=request.method, path=request.path, query=request.query, headers=headers, body=request.body
    )
    signature = signature_of(dated, names, now, credential.secret_access_key, region)
    scope = f"{credential.access_key_id}/{now:%Y%m%d}/{region}/{SERVICE}/aws4_request"
    value = f"{ALGORITHM} Credential={scope}, SignedHeaders={';'.join(names)}, Signature={signature}"
    return [*headers, ("Authorization", value)]


def signature_of(
    request: Request, signed: Sequence[str], signed_at: datetime, secret: str, region: str
) -> str:
    """The signature in hexadecimal over the headers named in `signed`."""
    date, stamp = f"{signed_at:%Y%m%d}", f"{signed_at:{_STAMP}}"
    digest = hashlib.sha256(canonical_request(request, signed).encode()).hexdigest()
    text = f"{ALGORITHM}\n{stamp}\n{date}/{region}/{SERVICE}/aws4_request\n{digest}"
    key = f"AWS4{secret}".encode()
    for part in (date, region, SERVICE, "aws4_request"):
        key = _mac(key, part)
    return _mac(key, text).hex()


def canonical_request(request: Request, signed: Sequence[str]) -> str:
    """The text that is hashed and signed."""
    headers = "".join(f"{name}:{_canonical_values(request.values(name))}\n" for name in signed)
    return "\n".join(
        (
            request.method,
            canonical_path(request.path),
            canonical_query(request.query),
            headers,
            ";".join(signed),
            payload_hash(request.body),
        )
    )


def canonical_path(raw: str) -> str:
    """Without empty and dot segments, then escaped once more: what is escaped in the path is escaped twice."""
    path = posixpath.normpath(raw or "/").replace("//", "/")
    if raw.endswith("/") and path != "/":
        path += "/"
    return quote(path, safe="/")


def canonical_query(raw: str) -> str:
    """Each name and value escaped one way (a plus is a space), sorted by name, then by value."""
    pairs = (part.partition("=") for part in raw.split("&") if part)
    escaped = sorted(
        (quote(unquote_plus(name), safe=""), quote(unquote_plus(value), safe="")) for name, _, value in pairs
    )
    return "&".join(f"{name}={value}" for name, value in escaped)


def payload_hash(body: bytes) -> str:
    """SHA-256 in hexadecimal."""
    return hashlib.sha256(body).hexdigest()


def _canonical_values(values: Sequence[str]) -> str:
    return ",".join(" ".join(value.split()) for value in values)


def _mac(key: bytes, text: str) -> bytes:
    return hmac.new(key, text.encode(), hashlib.sha256).digest()
