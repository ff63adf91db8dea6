"""Whether a graph can run: `check(graph, specs)` names every problem, with its node, field or edge."""

from builder.validation.check import check, error_problems
from builder.validation.issues import CODES, Problem

__all__ = ["CODES", "Problem", "check", "error_problems"]
