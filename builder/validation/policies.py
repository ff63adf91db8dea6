"""Policies that do nothing, or not what they seem to do."""

from collections.abc import Iterator, Mapping

from builder.expressions import holds_expression
from builder.graph.model import Node
from builder.graph.walk import Walk
from builder.validation.fixes import Fix, one
from builder.validation.issues import Problem
from builder.validation.nodes import named
from steps.base import ERROR_PORT, Delivery, Execution, StepSpec


def policy_problems(node: Node, walk: Walk, specs: Mapping[str, StepSpec]) -> Iterator[Problem]:
    policy = node.policy
    written = node.unknown.get("policy", {})  # a null that somebody wrote is meant
    if policy.on_error == "port" and not walk.leaving(node.id, ERROR_PORT):
        message = f"{named(node)} leaves by its error port when it fails, and no edge leads on from there. Draw one."
        fix = policy_set(node, "on_error", "fail", title="Fail the run instead")
        yield Problem("error_port_unused", message, node=node.id, field="policy.on_error", fix=fix)
    if policy.on_error == "fallback" and policy.fallback is None and "fallback" not in written:
        message = f"{named(node)} goes on with a fallback output when it fails, and none is given. It will be null."
        yield Problem("fallback_missing", message, node=node.id, field="policy.fallback")
    yield from join_problems(node, walk)
    yield from skip_problems(node)
    if policy.on_upstream_failure == "default" and policy.default is None and "default" not in written:
        message = f"{named(node)} runs with a default when a step before it failed, and none is given. It will be null."
        yield Problem("default_missing", message, node=node.id, field="policy.default")
    yield from limit_problems(node)
    yield from reuse_problems(node, specs)


def policy_set(node: Node, name: str, value: str, *, title: str) -> Fix:
    return one(title, "set", node=node.id, field=f"policy.{name}", value=value)


def reuse_problems(node: Node, specs: Mapping[str, StepSpec]) -> Iterator[Problem]:
    policy, spec = node.policy, specs.get(node.kind)
    if policy.reuse is None or spec is None:
        return
    if spec.execution not in (Execution.BODY, Execution.COMPUTE):
        message = f"{named(node)} waits, or contains steps: there is no result of it to reuse. Switch the reuse off."
        fix = one("Switch the reuse off", "unset", node=node.id, field="policy.reuse")
        yield Problem("reuse_impossible", message, node=node.id, field="policy.reuse", fix=fix)
    elif not policy.reuse_effects and (policy.delivery or spec.delivery_of(node.config) is not Delivery.PURE):
        message = (
            f"{named(node)} may have effects outside: with an earlier result reused, they would not happen. Switch the "
            "reuse off, or say that it is meant."
        )
        fix = one("Switch the reuse off", "unset", node=node.id, field="policy.reuse")
        yield Problem("reuse_of_effects", message, node=node.id, field="policy.reuse_effects", fix=fix)


def skip_problems(node: Node) -> Iterator[Problem]:
    if node.policy.skip_if is not None and not holds_expression(node.policy.skip_if):
        message = (
            f"{named(node)} would be left out, or not, in each run alike: what decides it is no expression. Write one, "
            "such as {{ run.input.dry_run }}."
        )
        fix = one("Never leave it out", "unset", node=node.id, field="policy.skip_if")
        yield Problem("skip_if_constant", message, node=node.id, field="policy.skip_if", fix=fix)


def join_problems(node: Node, walk: Walk) -> Iterator[Problem]:
    """A join that could never be reached is an error; one that changes nothing is left alone."""
    policy, ways = node.policy, len(walk.incoming[node.id])
    if policy.join != "count":
        return
    if policy.join_count is None:
        message = f"{named(node)} goes on when so many of the steps before it are done, and it does not say how many."
        fix = policy_set(node, "join", "all", title="Wait for all of them")
        yield Problem("join_count_missing", message, node=node.id, field="policy.join_count", fix=fix)
    elif policy.join_count > ways:
        message = (
            f"{named(node)} waits for {policy.join_count} of the ways into it, and there are {ways}: it would never "
            "run. Ask for fewer, or draw more edges."
        )
        fix = policy_set(node, "join", "all", title="Wait for all of them")
        yield Problem("join_count_too_high", message, node=node.id, field="policy.join_count", fix=fix)


def limit_problems(node: Node) -> Iterator[Problem]:
    policy = node.policy
    bounds = {name: getattr(policy, name) for name in ("limit_at_most", "rate_starts", "rate_per_s")}
    if policy.limit_key is None and any(value is not None for value in bounds.values()):
        message = f"{named(node)} has a limit without a key. Name it: steps with the same key share the limit."
        yield Problem("limit_key_missing", message, node=node.id, field="policy.limit_key")
    if policy.limit_key is not None and all(value is None for value in bounds.values()):
        message = f"{named(node)} has a limit's key and no limit. Say how many may run at once, or start in a time."
        yield Problem("limit_missing", message, node=node.id, field="policy.limit_at_most")
    if (policy.rate_starts is None) != (policy.rate_per_s is None):
        missing = "rate_per_s" if policy.rate_per_s is None else "rate_starts"
        message = f"{named(node)} has half of a rate: it needs both, how many starts, and in how many seconds."
        yield Problem("rate_incomplete", message, node=node.id, field=f"policy.{missing}")
