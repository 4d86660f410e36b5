"""Composes what is done in steps: backfills; and what owners and administrators switch."""

from __future__ import annotations

from fencepost.application.backfills.stepping import BackfillSteps
from fencepost.application.calendars import RememberedCalendars
from fencepost.application.delivery.cancel import Cancel
from fencepost.application.delivery.endings import Endings
from fencepost.application.delivery.finish import Finish
from fencepost.application.delivery.notices import Notices
from fencepost.application.errands.errand import ErrandKind
from fencepost.application.errands.forgetting import Forgetting
from fencepost.application.errands.running import Errands
from fencepost.application.errands.telling import Telling
from fencepost.application.registry.departures import Purging
from fencepost.domain.model import NotifyTargets
from fencepost.domain.notification import Notification
from fencepost.runtime import delivering, keeping
from fencepost.runtime.stage import Stage


class Elsewhere:
    """The `Notifier` of a function that reaches nobody outside: whoever empties the dead-letter queues tells instead."""

    def notify(self, notification: Notification, targets: NotifyTargets) -> bool:
        """Not told here."""
        del notification, targets
        return False


def errands(stage: Stage) -> Errands:
    """The steps of everything that takes more than one."""
    tools = delivering.tools(stage)
    steps = BackfillSteps(
        tools=tools, cancel=cancel(stage), calendars=RememberedCalendars(stage.store, stage.clock)
    )
    ports = keeping.ports(stage, cancel=cancel(stage))
    return Errands(
        steps={
            ErrandKind.BACKFILL: steps.run,
            ErrandKind.FORGET: Forgetting(store=stage.store).run,
            ErrandKind.PURGE: Purging(ports=ports).run,
            ErrandKind.TELL: Telling(store=stage.store, queues=stage.queues).run,
        }
    )


def cancel(stage: Stage) -> Cancel:
    """Ends executions that are not running; tells nobody by itself."""
    tools = delivering.tools(stage)
    notices = Notices(notifier=Elsewhere(), limits=stage.settings.limits)
    finish = Finish(tools=tools, doors=delivering.doors(stage), notices=notices)
    return Cancel(tools=tools, endings=Endings(tools=tools, finish=finish))
