from steps.base import FanOut, StepContext
from steps.map.spec import MapConfig


def run(config: MapConfig, ctx: StepContext) -> FanOut:
    return FanOut(config.items, window=config.window, on_item_failure=config.on_item_failure)
