"""The routes of signing keys."""

from __future__ import annotations

from fencepost.adapters.api import answers_team, bodies, keys
from fencepost.adapters.api.access import Role
from fencepost.adapters.api.paths import TEAM
from fencepost.adapters.api.queries import Parameter, truth
from fencepost.adapters.api.route import Route

KEYS = TEAM + "/keys"
COMPROMISED = Parameter(
    name="compromised",
    read=truth,
    schema={"type": "boolean", "default": False},
    says="Others know the secret: end the key at once, whoever still verifies with it.",
)

KEY_ROUTES = (
    Route(
        name="listKeys",
        method="GET",
        path=KEYS,
        says="The keys that sign a team's calls, with the public halves of v1a. Secrets are never shown.",
        role=Role.READER,
        handle=keys.browse,
        gives={200: answers_team.SigningKeys},
    ),
    Route(
        name="makeKey",
        method="POST",
        path=KEYS,
        says="Make a further signing key; it signs beside those that are there. Its secret is told in this answer only.",
        role=Role.OWNER,
        handle=keys.make,
        takes=bodies.KeyBody,
        optional_body=True,
        gives={201: answers_team.MadeKey},
        conflicts=True,
        secret=True,
    ),
    Route(
        name="rotateKey",
        method="POST",
        path=KEYS + "/rotate",
        says="Make a signing key; of two of its scheme the older goes. 409 while receivers may know no newer one.",
        role=Role.OWNER,
        handle=keys.rotate,
        takes=bodies.KeyBody,
        optional_body=True,
        gives={201: answers_team.MadeKey},
        conflicts=True,
        secret=True,
    ),
    Route(
        name="dropKey",
        method="DELETE",
        path=KEYS + "/{key}",
        says="End a signing key. 409 inside the overlap and for the last one, unless it is compromised.",
        role=Role.OWNER,
        handle=keys.drop,
        gives={200: answers_team.SigningKeys},
        query=(COMPROMISED,),
        conflicts=True,
    ),
)
