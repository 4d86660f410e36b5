"""The promise as an objective that AWS keeps count of: of all firings, so many begin on time."""

from __future__ import annotations

from aws_cdk import aws_applicationsignals as signals
from constructs import Construct

from infra.constructs.alarms import BURNS
from infra.constructs.metrics import SUM, Own
from infra.names import NAMESPACE, Names
from infra.settings import Stage

_Objective = signals.CfnServiceLevelObjective


def objective(scope: Construct, stage: Stage, names: Names) -> signals.CfnServiceLevelObjective:
    """Request-based: each firing counts once, so a quiet night weighs nothing."""
    return _Objective(
        scope,
        "Objective",
        name=names.of("on-time"),
        description="Firings that begin within five seconds of due",
        request_based_sli=_Objective.RequestBasedSliProperty(
            request_based_sli_metric=_Objective.RequestBasedSliMetricProperty(
                total_request_count_metric=[_counted(stage, Own.FIRED)],
                monitored_request_count_metric=_Objective.MonitoredRequestCountMetricProperty(
                    good_count_metric=[_counted(stage, Own.ON_TIME)]
                ),
            )
        ),
        goal=_Objective.GoalProperty(
            attainment_goal=stage.objective.goal,
            warning_threshold=50,
            interval=_Objective.IntervalProperty(
                rolling_interval=_Objective.RollingIntervalProperty(
                    duration=stage.objective.days, duration_unit="DAY"
                )
            ),
        ),
        burn_rate_configurations=[
            _Objective.BurnRateConfigurationProperty(look_back_window_minutes=minutes)
            for minutes in sorted(
                {window.to_minutes() for burn in BURNS for window in (burn.long, burn.short)}
            )
        ],
    )


def _counted(stage: Stage, metric: Own) -> signals.CfnServiceLevelObjective.MetricDataQueryProperty:
    return _Objective.MetricDataQueryProperty(
        id=metric.name.lower(),
        return_data=True,
        metric_stat=_Objective.MetricStatProperty(
            stat=SUM,
            period=60,
            metric=_Objective.MetricProperty(
                namespace=NAMESPACE,
                metric_name=metric.value,
                dimensions=[_Objective.DimensionProperty(name="Stage", value=stage.name)],
            ),
        ),
    )
