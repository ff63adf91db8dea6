"""Named in PAWL_EXTRA_STEPS, this makes two expressions take for ever in that launcher's children.

The evaluator has bounds of its own, and no expression is known that gets past them; what the process does when one does
is still to be seen.
"""

import sys
from collections.abc import Mapping
from typing import Any

from builder import expressions

SPINS = "{{ 'spin' }}"
BLOCKS = "{{ 'block' }}"

_resolve = expressions.resolve


def resolve(config: Mapping[str, Any], scope: Mapping[str, Any], **how: Any) -> dict[str, Any]:
    while config["value"] == SPINS:
        pass
    if config["value"] == BLOCKS:
        sum(range(10**11))  # one call into C: no signal handler of Python's runs until it ends
    return _resolve(config, scope, **how)


if "runs.runner.launcher" in sys.orig_argv:  # not where a test only wants the two texts
    expressions.resolve = resolve
