"""One attempt inside the child: resolve the expressions, check the config, call the body, make an answer of what it gave."""

import math
import os
import signal
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType as StackFrame
from typing import Any

from pydantic import ValidationError

from builder import expressions
from kit.failpoints import failpoint
from runs.runner import jobs
from runs.runner.context import Context
from runs.runner.jobs import Task
from runs.runner.messages import Error
from runs.runner.values import NotJson, TooLarge, encode_checked
from steps import registry
from steps.base import Done, FanOut, StepFailure, StepSpec, WaitFor

EXPRESSION_LIMIT_S = 2.0  # of this process's own time: a machine that stood still does not make an expression fail
EXPRESSION_KILL_S = 2.5  # for C code that never comes back to the interpreter; the worker knows this death by its signal
MESSAGE_CHARS = 4000
TRACEBACK_CHARS = 8000
SHOWN_FIELDS = 20


@dataclass(frozen=True, slots=True)
class Execution:
    result: str  # JSON, see jobs.pack_*
    input_text: str | None  # JSON of the resolved config; None where it is the raw one
    retire: str | None = None


class _Refused(Exception):
    """The attempt fails before its body begins."""

    def __init__(self, error: Error) -> None:
        super().__init__(error.message)
        self.error = error


class _TooSlow(BaseException):
    """Not an Exception, so that nothing in a template catches it."""


def execute(task: Task, context: Context) -> Execution:
    input_text: str | None = None
    try:
        spec = registry.get(task.kind)
        config = task.config
        if "{{" in task_text(config) or "{%" in task_text(config):
            config = _resolve(task)
            input_text = _encode(config, name="config", limit_bytes=task.output_limit_bytes)
        settings = _validate(spec, config)
        failpoint("before_body")
        given = registry.load_body(task.kind)(settings, context)
        failpoint("after_body")
        return Execution(_pack(given, spec=spec, config=config, limit_bytes=task.output_limit_bytes), input_text)
    except BaseException as problem:
        return Execution(jobs.pack_failed(_error_of(problem)), input_text)
