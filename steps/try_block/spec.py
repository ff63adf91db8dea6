from steps.base import FAILED_PORT, Delivery, Execution, Port, StepConfig, StepSpec

PORTS = (Port("out"), Port(FAILED_PORT, "Failed"))


class TryConfig(StepConfig):
    pass


SPEC = StepSpec(
    kind="try_block",
    title="Try",
    group="Flow",
    icon="lifebuoy",
    summary="Runs the steps inside; where one of them fails, the flow goes on by another way.",
    config=TryConfig,
    delivery=Delivery.PURE,
    body="steps.try_block.run:run",
    execution=Execution.CONTAINER,
    ports=lambda config: PORTS,
    gives=(),
)
