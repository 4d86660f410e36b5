"""Builds the layers and says where they lie: `python -m infra.packaging`."""

from __future__ import annotations

import sys

from infra.packaging import package
from infra.packaging.folders import ROOT

built = package()
for folder in (built.dependencies, built.core, *built.functions.values()):
    sys.stdout.write(f"{folder.relative_to(ROOT)}\n")
