"""Where the sample is found, from Django's settings (config/settings.py reads the environment)."""

from pathlib import Path

from django.conf import settings

from sample.state import Address, SampleState, parse_address

DEMO_WORKSPACE = "acme"
DEMO_EMAIL = "demo@pawl.local"


def http_address() -> Address:
    return parse_address(settings.SAMPLE_HTTP, name="PAWL_SAMPLE_HTTP")


def smtp_address() -> Address:
    return parse_address(settings.SAMPLE_SMTP, name="PAWL_SAMPLE_SMTP")


def state_folder() -> Path:
    return Path(settings.SAMPLE_STATE)


def mails_folder() -> Path:
    return state_folder() / "mails"


def sample_state() -> SampleState:
    return SampleState(state_folder())
