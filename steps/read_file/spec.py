from typing import Literal

from steps.base import Delivery, Field, StepConfig, StepSpec, widget
from steps.describe import setting
from steps.fields import StoragePath


class ReadFileConfig(StepConfig):
    path: StoragePath = Field(
        title="File",
        description="In the workspace's storage.",
        examples=["inbox/batch.json"],
        json_schema_extra=widget("file"),
    )
    read_as: Literal["auto", "text", "json", "csv", "base64"] = Field(
        default="auto",
        title="Read as",
        description="auto: by the ending of the name; csv gives a list of objects, by its header.",
    )
    size_limit_mb: float = Field(default=8.0, gt=0, le=256, title="Size limit", description="MB.")


SPEC = StepSpec(
    kind="read_file",
    title="Read file",
    group="Files",
    icon="file-import",
    summary="Reads a file of the workspace's storage.",
    config=ReadFileConfig,
    delivery=Delivery.PURE,
    body="steps.read_file.run:run",
    describe=lambda config: setting(config, "path"),
    output_schema=lambda config: {
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "size": {"type": "integer"},
            "sha256": {"type": "string"},
            "content_type": {"type": "string"},
            "content": {},
        },
    },
)
