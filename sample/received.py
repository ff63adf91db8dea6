"""What arrived at the sample's servers: the count from outside that the crash demo compares with Pawl's own tables."""

import json
import threading
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Arrival:
    """One request or mail. `key` is its idempotency key, '' without one; `path` of a mail is its Message-ID."""

    method: str  # GET, POST, PUT, or MAIL
    path: str
    key: str


class Received:
    """Counts arrivals, in a file too, so that a restart of the servers forgets nothing."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._lock = threading.Lock()
        self._counts: Counter[Arrival] = Counter()
        self._first_at: dict[Arrival, float] = {}
        if file.exists():
            for text in file.read_text().splitlines():
                self._remember(json.loads(text))

    def add(self, arrival: Arrival) -> int:
        """Counts one arrival; answers how many of the same there were with it."""
        row = {"method": arrival.method, "path": arrival.path, "key": arrival.key, "at": time.time()}
        with self._lock:
            with self._file.open("a") as stream:
                stream.write(json.dumps(row) + "\n")
            self._remember(row)
            return self._counts[arrival]

    def _remember(self, row: dict[str, Any]) -> None:
        arrival = Arrival(row["method"], row["path"], row["key"])
        self._counts[arrival] += 1
        self._first_at.setdefault(arrival, row["at"])

    def rows(self) -> list[dict[str, Any]]:
        with self._lock:
            return [
                {
                    "method": arrival.method,
                    "path": arrival.path,
                    "key": arrival.key,
                    "count": count,
                    "first_at": self._first_at[arrival],
                }
                for arrival, count in self._counts.items()
            ]
