"""JSON values from their text."""

import json
from typing import Any


def decoded(text: str | None) -> Any:
    return None if text is None else json.loads(text)
