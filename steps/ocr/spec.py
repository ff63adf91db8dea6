from typing import Annotated, Any

from pydantic import BeforeValidator

from steps.base import Delivery, Field, StepConfig, StepSpec, widget
from steps.describe import setting
from steps.fields import StoragePath


def as_list(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


class OcrConfig(StepConfig):
    files: Annotated[list[StoragePath], BeforeValidator(as_list)] = Field(
        title="Files",
        description="Images or PDFs in the workspace's storage: a path or a list of paths.",
        min_length=1,
        max_length=500,
        examples=["{{ item.path }}"],
        json_schema_extra=widget("file"),
    )
    first_page: int = Field(default=1, ge=1, title="First page", description="Of a PDF.")
    page_limit: int = Field(
        default=50, ge=1, le=1000, title="Page limit", description="Pages read in all; more fail the step."
    )
    dpi: int = Field(default=200, ge=72, le=600, title="Resolution", description="At which PDF pages are drawn.")
    min_confidence: float = Field(
        default=0.5, ge=0, le=1, title="Least confidence", description="Lines below it are left out."
    )


SPEC = StepSpec(
    kind="ocr",
    title="Read text (OCR)",
    group="Files",
    icon="text-scan-2",
    summary="Reads the text of scans and PDF pages, on this machine.",
    config=OcrConfig,
    delivery=Delivery.PURE,
    body="steps.ocr.run:run",
    describe=lambda config: setting(config, "files"),
    output_schema=lambda config: {
        "type": "object",
        "properties": {
            "text": {"type": "string"},
            "confidence": {"type": ["number", "null"]},
            "pages": {"type": "array", "items": {"type": "object"}},
        },
    },
    default_limit_s=300.0,
)
