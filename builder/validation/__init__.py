"""Whether a graph can run: `check(graph, specs)` names every problem, with its node, field or edge.
`lint(graph, specs)` names what could be better."""

from builder.validation.check import check, error_problems
from builder.validation.fixes import Act, Fix
from builder.validation.issues import CODES, Problem
from builder.validation.lints import lint

__all__ = ["CODES", "Act", "Fix", "Problem", "check", "error_problems", "lint"]
