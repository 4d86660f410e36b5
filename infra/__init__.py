"""The stacks of a stage: what is deployed, with how much room, and who is told when it fails.

Of the service's own code it imports the table schema and nothing else. Node, which the construct library runs on,
comes from a wheel; it has to be named before the library is imported, so that is done here.
"""

from __future__ import annotations

from infra.node import use_packaged_node

use_packaged_node()
