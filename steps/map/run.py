from steps.base import FanOut, StepContext
from steps.map.spec import MapConfig


def run(config: MapConfig, ctx: StepContext) -> FanOut:
    items = config.items
    if config.batch > 1:
        items = [items[at : at + config.batch] for at in range(0, len(items), config.batch)]
    tolerated = max(config.tolerate_items, int(len(items) * config.tolerate_percent / 100))
    return FanOut(items, window=config.window, on_item_failure=config.on_item_failure, tolerated=tolerated)
