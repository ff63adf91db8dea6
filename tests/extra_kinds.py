"""Step kinds of the tests beside those of the library."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from steps import registry

FLEETS = "tests.kinds,tests.harmful_kinds,tests.gated_kinds,tests.tick_kinds"
CACHES = (
    registry._plugins, registry.get, registry.all_specs, registry.load_body, registry.literal_fields, registry._schema,
)  # fmt: skip


@contextmanager
def known(modules: str) -> Iterator[None]:
    """This process, and those that it starts meanwhile, know the kinds of these modules."""
    earlier = os.environ.get(registry.EXTRA_STEPS)
    os.environ[registry.EXTRA_STEPS] = modules
    _forget()
    try:
        yield
    finally:
        os.environ.pop(registry.EXTRA_STEPS)
        if earlier is not None:
            os.environ[registry.EXTRA_STEPS] = earlier
        _forget()


def _forget() -> None:
    for cache in CACHES:
        cache.cache_clear()
