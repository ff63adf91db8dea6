"""What a connection of each kind holds. The connection store checks new ones against these, seals them whole, and
shows only the fields that are not secret; a body gets the settings from `ctx.connection(name)` and reads them here.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal, TypeVar
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from steps.base import StepContext, StepFailure

SECRET: dict[str, Any] = {"x-pawl": {"secret": True, "widget": "password"}}


class ConnectionSettings(BaseModel):
    model_config = ConfigDict(extra="forbid", coerce_numbers_to_str=True)


class HttpConnection(ConnectionSettings):
    """Credentials are sent to addresses under `base_url` only, so that no node can carry them elsewhere."""

    base_url: str = Field(title="Base address", pattern=r"^https?://", examples=["https://api.example.com/v1"])
    user: str = Field(default="", title="User", description="For basic authentication.")
    password: str = Field(default="", title="Password", json_schema_extra=SECRET)
    token: str = Field(default="", title="Token", description="Sent as a bearer token.", json_schema_extra=SECRET)
    headers: dict[str, str] = Field(
        default_factory=dict, title="Headers", description="Such as an API key.", json_schema_extra=SECRET
    )

    @field_validator("base_url")
    @classmethod
    def _holds_no_password(cls, value: str) -> str:
        if "@" in urlsplit(value).netloc:
            raise ValueError("write user and password into their own fields: everybody may read the address")
        return value


class SqlConnection(ConnectionSettings):
    """PostgreSQL by an address or by its parts; SQLite by a path in the workspace's storage."""

    engine: Literal["postgresql", "sqlite"] = Field(default="postgresql", title="Database")
    url: str = Field(
        default="",
        title="Address",
        description="Instead of the parts below.",
        examples=["postgresql://user:password@db.example.com:5432/shop"],
        json_schema_extra=SECRET,
    )
    host: str = Field(default="", title="Host")
    port: int = Field(default=5432, ge=1, le=65535, title="Port")
    database: str = Field(default="", title="Database name")
    user: str = Field(default="", title="User")
    password: str = Field(default="", title="Password", json_schema_extra=SECRET)
    tls: Literal["verify-full", "require", "prefer", "disable"] = Field(default="prefer", title="TLS")
    path: str = Field(default="", title="File", description="SQLite: path in the workspace's storage.")

    @model_validator(mode="after")
    def _names_a_database(self) -> "SqlConnection":
        if self.engine == "sqlite" and not self.path:
            raise ValueError("a SQLite connection needs 'path', a file in the workspace's storage")
        if self.engine == "postgresql" and not (self.url or (self.host and self.database)):
            raise ValueError("a PostgreSQL connection needs 'url', or 'host' and 'database'")
        return self


class SmtpConnection(ConnectionSettings):
    host: str = Field(title="Host", examples=["smtp.example.com"])
    port: int = Field(default=587, ge=1, le=65535, title="Port")
    security: Literal["starttls", "tls", "none"] = Field(default="starttls", title="Encryption")
    user: str = Field(default="", title="User")
    password: str = Field(default="", title="Password", json_schema_extra=SECRET)
    sender: str = Field(
        default="", title="Sender", description="Used where a step names none.", examples=["pawl@example.com"]
    )


Settings = TypeVar("Settings", bound=ConnectionSettings)

KINDS: Mapping[str, type[ConnectionSettings]] = MappingProxyType(
    {"http": HttpConnection, "sql": SqlConnection, "smtp": SmtpConnection}
)


def secret_fields(kind: str) -> frozenset[str]:
    """Fields of a kind that are never shown again."""
    return frozenset(name for name, info in KINDS[kind].model_fields.items() if info.json_schema_extra is SECRET)


def read(ctx: StepContext, name: str, shape: type[Settings]) -> Settings:
    """The settings of the connection that a node names. The failure's words hold no value of the connection."""
    try:
        return shape.model_validate(dict(ctx.connection(name)))
    except ValidationError as problem:
        fields = ", ".join(sorted({".".join(map(str, each["loc"])) or each["msg"] for each in problem.errors()}))
        raise StepFailure(
            "bad_connection", f"The connection '{name}' does not fit this step. Look at its settings: {fields}."
        ) from None
