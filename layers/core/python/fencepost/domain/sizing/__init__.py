"""How large a stage has to be for a load, what it then costs, and what others would take for the same."""

from __future__ import annotations

from fencepost.domain.sizing.advice import Advice, advise
from fencepost.domain.sizing.bill import Bill, Line, bill
from fencepost.domain.sizing.load import Load
from fencepost.domain.sizing.rivals import Rival, rivals

__all__ = ["Advice", "Bill", "Line", "Load", "Rival", "advise", "bill", "rivals"]
