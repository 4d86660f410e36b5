"""The client library: jobs, executions and teams over the HTTP API, and what a receiver of firings needs.

from fencepost.client import Fencepost, cron, webhook

fencepost = Fencepost(endpoint="https://...", team="payments")
fencepost.job("nightly").put(schedule=cron("30 2 * * *", "Europe/Berlin"), target=webhook("https://..."))
"""

from __future__ import annotations

from fencepost.client.auditing import AuditFinding, AuditPage
from fencepost.client.bulk import BulkItem, BulkResult
from fencepost.client.calls import Retrying
from fencepost.client.credentials import Keys
from fencepost.client.errors import (
    ApiError,
    ChangedError,
    ConfigurationError,
    ConflictError,
    DeclarationError,
    FaultsError,
    FencepostError,
    FieldFault,
    LeaseLostError,
    NotAllowedError,
    NotDeclaredError,
    NotFoundError,
    RefusedCallError,
    ServiceError,
    StaleFenceError,
    ThrottledError,
    UnexpectedAnswerError,
    UnreachableError,
    UnsignedCallError,
)
from fencepost.client.execution import ExecutionHandle
from fencepost.client.fencepost import Fencepost
from fencepost.client.job import JobHandle
from fencepost.client.keys import KeyRing, MadeKey, SigningKey, SigningKeys
from fencepost.client.paging import Listing
from fencepost.client.receiver import Fences, MemoryFences, ReceivedCall, Receiver, Work, working
from fencepost.client.results import (
    Attempt,
    Coalesced,
    Execution,
    Health,
    Job,
    JobChange,
    Limit,
    Limits,
    NotRedriven,
    Occurrence,
    Preview,
    Redriven,
    Revision,
    Team,
    UnreadableJob,
)
from fencepost.client.shapes import (
    after,
    at,
    cron,
    eventbridge,
    every,
    function,
    sns,
    sqs,
    step_functions,
    webhook,
)

__all__ = [
    "ApiError",
    "Attempt",
    "AuditFinding",
    "AuditPage",
    "BulkItem",
    "BulkResult",
    "ChangedError",
    "Coalesced",
    "ConfigurationError",
    "ConflictError",
    "DeclarationError",
    "Execution",
    "ExecutionHandle",
    "FaultsError",
    "Fencepost",
    "FencepostError",
    "Fences",
    "FieldFault",
    "Health",
    "Job",
    "JobChange",
    "JobHandle",
    "KeyRing",
    "Keys",
    "LeaseLostError",
    "Limit",
    "Limits",
    "Listing",
    "MadeKey",
    "MemoryFences",
    "NotAllowedError",
    "NotDeclaredError",
    "NotFoundError",
    "NotRedriven",
    "Occurrence",
    "Preview",
    "ReceivedCall",
    "Receiver",
    "Redriven",
    "RefusedCallError",
    "Retrying",
    "Revision",
    "ServiceError",
    "SigningKey",
    "SigningKeys",
    "StaleFenceError",
    "Team",
    "ThrottledError",
    "UnexpectedAnswerError",
    "UnreachableError",
    "UnreadableJob",
    "UnsignedCallError",
    "Work",
    "after",
    "at",
    "cron",
    "eventbridge",
    "every",
    "function",
    "sns",
    "sqs",
    "step_functions",
    "webhook",
    "working",
]
