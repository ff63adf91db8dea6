from collections.abc import Mapping
from typing import Any, Literal

from steps.base import Delivery, Field, StepConfig, StepSpec, widget
from steps.describe import setting
from steps.fields import StoragePath, connection_field

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
UNSAFE_METHODS = ("POST", "PUT", "PATCH", "DELETE")


class HttpRequestConfig(StepConfig):
    method: Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] = Field(default="GET", title="Method")
    url: str = Field(
        title="Address",
        description="Whole, or with a connection the rest after its base address.",
        min_length=1,
        max_length=8192,
        examples=["https://api.example.com/batches/{{ run.input.batch }}", "/batches"],
    )
    connection: str | None = connection_field(default=None)
    query: dict[str, Any] = Field(
        default_factory=dict,
        title="Query",
        description="Added to the address. A list gives the name several times, null leaves it out.",
        json_schema_extra=widget("key-values"),
    )
    headers: dict[str, str] = Field(
        default_factory=dict,
        title="Headers",
        examples=[{"Accept": "application/json"}],
        json_schema_extra=widget("key-values"),
    )
    body_type: Literal["none", "json", "text", "form", "file"] = Field(
        default="none", title="Body", description="What is sent. 'file' sends a file of the workspace's storage."
    )
    body: Any = Field(
        default=None,
        title="Body content",
        description="A value for json, a text for text, names and values for form, a path for file.",
        examples=[{"number": "{{ steps.read.output.number }}"}],
        json_schema_extra=widget("json", when={"body_type": ["json", "text", "form", "file"]}),
    )
    expected_status: str = Field(
        default="2xx",
        title="Expected status",
        description="Any other status fails the step. Numbers, ranges and classes.",
        pattern=r"^\s*([1-5]xx|[1-5]\d\d(\s*-\s*[1-5]\d\d)?)(\s*,\s*([1-5]xx|[1-5]\d\d(\s*-\s*[1-5]\d\d)?))*\s*$",
        examples=["2xx", "200-204, 404"],
    )
    response_type: Literal["auto", "json", "text", "file"] = Field(
        default="auto",
        title="Response",
        description="auto: JSON and text by the content type; anything else becomes a file in the storage.",
    )
    save_to: StoragePath | None = Field(
        default=None,
        title="Save to",
        description="Where a file of the response goes. Without it, a name is made from the run and the step.",
        json_schema_extra=widget("file"),
    )
    follow_redirects: bool = Field(
        default=True, title="Follow redirects", description="At most 5; each is checked anew."
    )
    timeout_s: float = Field(
        default=30.0,
        gt=0,
        le=3600,
        title="Time limit",
        description="In seconds, for the whole exchange.",
        json_schema_extra=widget("duration"),
    )
    size_limit_mb: float = Field(default=8.0, gt=0, le=1024, title="Size limit", description="Of the response, in MB.")
    key_header: str = Field(
        default="Idempotency-Key",
        pattern=r"^[A-Za-z0-9-]{1,64}$",
        title="Header of the idempotency key",
        description="The same on every attempt, so that the other side can tell a repeat.",
    )


def delivery(config: Mapping[str, Any]) -> Delivery:
    method = config.get("method", "GET")
    return Delivery.PURE if isinstance(method, str) and method in SAFE_METHODS else Delivery.KEYED


def acts(config: Mapping[str, Any]) -> bool:
    """A method that an expression names may turn out to be a safe one, which is no act."""
    return config.get("method", "GET") in UNSAFE_METHODS


def describe(config: Mapping[str, Any]) -> str:
    return f"{setting(config, 'method', 'GET')} {setting(config, 'url')}".strip()


SPEC = StepSpec(
    kind="http_request",
    title="HTTP request",
    group="Outside",
    icon="world-www",
    summary="Calls an API and reads its answer.",
    config=HttpRequestConfig,
    delivery=Delivery.KEYED,
    delivery_by=delivery,
    acts_by=acts,
    body="steps.http_request.run:run",
    describe=describe,
    output_schema=lambda config: {
        "type": "object",
        "properties": {
            "status": {"type": "integer"},
            "headers": {"type": "object"},
            "body": {},
            "url": {"type": "string"},
            "file": {"type": ["object", "null"]},
        },
    },
    connection_kinds=("http",),
    default_limit_s=3660.0,
)
