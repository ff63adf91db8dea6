from typing import Any, Literal

from steps.base import Delivery, Field, StepConfig, StepSpec, widget
from steps.describe import setting
from steps.fields import StoragePath


class WriteFileConfig(StepConfig):
    path: StoragePath = Field(
        title="File", description="In the workspace's storage.", examples=["reports/{{ run.input.batch }}.json"]
    )
    content: Any = Field(
        title="Content",
        description="A text; any value for json; a list of objects or of lists for csv; base64 text for base64.",
        examples=["{{ steps.report.output }}"],
        json_schema_extra=widget("json"),
    )
    write_as: Literal["auto", "text", "json", "csv", "base64"] = Field(
        default="auto", title="Write as", description="auto: a text as it is, anything else as JSON."
    )
    if_exists: Literal["replace", "fail"] = Field(
        default="replace", title="If it is there already", description="The same content never fails."
    )


SPEC = StepSpec(
    kind="write_file",
    title="Write file",
    group="Files",
    icon="file-export",
    summary="Writes a file to the workspace's storage, whole or not at all.",
    config=WriteFileConfig,
    delivery=Delivery.KEYED,
    acts=True,
    body="steps.write_file.run:run",
    describe=lambda config: setting(config, "path"),
    output_schema=lambda config: {
        "type": "object",
        "properties": {"path": {"type": "string"}, "size": {"type": "integer"}, "sha256": {"type": "string"}},
    },
)
