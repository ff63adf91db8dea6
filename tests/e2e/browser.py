"""Which Chromium, and how it is started so that it talks to nobody but Pawl."""

import shutil

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = [
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
    "--no-first-run",
]


def find_chromium() -> str | None:
    return next((found for name in BROWSERS if (found := shutil.which(name))), None)
