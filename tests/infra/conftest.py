"""Before any test here imports the construct library, `infra` tells it which Node to run on."""

from __future__ import annotations

import infra

assert infra.__doc__
