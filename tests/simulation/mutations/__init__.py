"""The mutants: what the protocol's page G names, what simulation corrected, and more."""

from __future__ import annotations

from tests.simulation.mutants import Mutant
from tests.simulation.mutations.admission import ADMISSION
from tests.simulation.mutations.delivery import DELIVERY
from tests.simulation.mutations.scanning import SCANNING
from tests.simulation.mutations.upkeep import UPKEEP

CONTROL = Mutant(
    name="control: two halves of a condition change places",
    module="application.scanning.scan",
    old='condition=either(Absent(), Compare("until", "<=", to_ms(now))),',
    new='condition=either(Compare("until", "<=", to_ms(now)), Absent()),',
    bites="",
    equivalent=True,
)
MUTANTS = (*SCANNING, *DELIVERY, *ADMISSION, *UPKEEP, CONTROL)
