from typing import Annotated, Any

from pydantic import BeforeValidator, model_validator

from steps.base import Delivery, Field, StepConfig, StepSpec, widget
from steps.describe import setting
from steps.fields import StoragePath


def as_list(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


class ArchiveConfig(StepConfig):
    path: StoragePath = Field(
        title="Archive",
        description="The zip file to write, in the workspace's storage.",
        examples=["archive/{{ run.number }}.zip"],
    )
    files: Annotated[list[StoragePath], BeforeValidator(as_list)] = Field(
        default_factory=list,
        title="Files",
        description="Files and folders of the workspace's storage; a folder goes in with all that it holds.",
        max_length=10_000,
        json_schema_extra=widget("file"),
    )
    entries: dict[StoragePath, Any] = Field(
        default_factory=dict,
        title="Entries",
        description="Name and content of entries written on the spot: a text, or any value as JSON.",
        examples=[{"report.json": "{{ steps.report.output }}"}],
        json_schema_extra=widget("key-values"),
    )
    size_limit_mb: float = Field(
        default=256.0, gt=0, le=4096, title="Size limit", description="Of what goes in, in MB."
    )

    @model_validator(mode="after")
    def _holds_something(self) -> "ArchiveConfig":
        if not (self.files or self.entries):
            raise ValueError("an archive needs 'files' or 'entries'")
        return self


SPEC = StepSpec(
    kind="archive",
    title="Archive",
    group="Files",
    icon="file-zip",
    summary="Packs files and values into a zip; the same content gives the same bytes.",
    config=ArchiveConfig,
    delivery=Delivery.KEYED,
    acts=True,
    body="steps.archive.run:run",
    describe=lambda config: setting(config, "path"),
    output_schema=lambda config: {
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "size": {"type": "integer"},
            "sha256": {"type": "string"},
            "entries": {"type": "array", "items": {"type": "string"}},
        },
    },
)
