"""An independent check of an answer: it shares no counting with the search.

It works on the problem and the assignments alone, so that a fault of a solver cannot hide.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from fleet.placement.eligibility import (
    blocking_taint,
    card_matches,
    in_clusters,
    matches_selector,
    model_allowed,
)
from fleet.placement.problem import Demand, NodeCapacity, Problem, Slot
from fleet.placement.result import Assignment
from fleet.sizing.requirement import Shape


def violations(problem: Problem, assignments: Iterable[Assignment]) -> tuple[str, ...]:
    """Every rule that the assignments break, in words; empty when the answer is valid."""
    found: list[str] = []
    demands = {d.workload: d for d in problem.demands}
    nodes = {(n.cluster, n.node): n for n in problem.nodes}
    replicas: dict[tuple[str, int], list[Assignment]] = defaultdict(list)
    known: list[Assignment] = []
    for a in assignments:
        if a.workload not in demands or (a.cluster, a.node) not in nodes:
            found.append(f"{_name(a)}: unknown workload or node")
            continue
        known.append(a)
        replicas[(a.workload, a.replica)].append(a)
    for a in known:
        found += _pod(demands[a.workload], nodes[(a.cluster, a.node)], a)
    for (workload, replica), pods in replicas.items():
        found += _replica(demands[workload], replica, pods, nodes)
    found += _nodes(known, nodes)
    found += _quotas(problem, known, demands)
    return tuple(found)


def _name(a: Assignment) -> str:
    return f"{a.workload} replica {a.replica} pod {a.pod} on {a.cluster}/{a.node}"


def _pod(demand: Demand, node: NodeCapacity, a: Assignment) -> list[str]:
    if not 0 <= a.shape < len(demand.shapes):
        return [f"{_name(a)}: no such shape"]
    shape = demand.shapes[a.shape]
    slot = _slot(node, a)
    if slot is None or not card_matches(shape, slot):
        return [f"{_name(a)}: the node has no such card"]
    found = []
    if (a.gpus, a.cpu_milli, a.memory_mib) != (
        shape.gpus_per_pod,
        shape.cpu_milli,
        shape.memory_mib,
    ):
        found.append(f"{_name(a)}: amounts differ from the shape")
    if not node.schedulable:
        found.append(f"{_name(a)}: the node takes no pods")
    if not in_clusters(demand, node) or not model_allowed(demand, shape):
        found.append(f"{_name(a)}: cluster or GPU model not allowed")
    if not matches_selector(demand, node):
        found.append(f"{_name(a)}: node selector not met")
    if blocking_taint(demand, node, slot.resource) is not None:
        found.append(f"{_name(a)}: taint not tolerated")
    return found


def _slot(node: NodeCapacity, a: Assignment) -> Slot | None:
    wanted = (a.resource, a.gpu_model, a.mig_profile)
    return next((s for s in node.slots if (s.resource, s.gpu_model, s.mig_profile) == wanted), None)


def _replica(
    demand: Demand,
    number: int,
    pods: list[Assignment],
    nodes: dict[tuple[str, str], NodeCapacity],
) -> list[str]:
    name = f"{demand.workload} replica {number}"
    found = []
    if not 0 <= number < demand.replicas:
        found.append(f"{name}: no such replica")
    if len({a.shape for a in pods}) > 1:
        return [*found, f"{name}: pods of several shapes"]
    shape = demand.shapes[pods[0].shape] if pods[0].shape < len(demand.shapes) else None
    if shape is None:
        return found
    wanted = range(shape.pods if demand.gang else min(len(pods), shape.pods))
    if sorted(a.pod for a in pods) != list(wanted):
        found.append(f"{name}: {len(pods)} of {shape.pods} pods")
    if len({a.cluster for a in pods}) > 1:
        found.append(f"{name}: spans clusters")
    return found + _domain(demand, shape, name, [nodes[(a.cluster, a.node)] for a in pods])


def _domain(demand: Demand, shape: Shape, name: str, on: list[NodeCapacity]) -> list[str]:
    if demand.domain == "any":
        return []
    if demand.domain != "nvlink" and len({n.node for n in on}) == 1:
        return []  # one node lies within one rack and one zone, said or not
    if demand.domain == "nvlink" and shape.gpus == 1:
        return []
    paths = {n.node if demand.domain == "node" else n.domains.get(demand.domain) for n in on}
    if None in paths or len(paths) > 1:
        return [f"{name}: not within one {demand.domain}"]
    return []


def _nodes(assignments: list[Assignment], nodes: dict[tuple[str, str], NodeCapacity]) -> list[str]:
    found = []
    by_node: dict[tuple[str, str], list[Assignment]] = defaultdict(list)
    for a in assignments:
        by_node[(a.cluster, a.node)].append(a)
    for key, pods in by_node.items():
        node = nodes[key]
        units: Counter[tuple[str, str, str | None]] = Counter()
        for a in pods:
            units[(a.resource, a.gpu_model, a.mig_profile)] += a.gpus
        free = {(s.resource, s.gpu_model, s.mig_profile): s.free for s in node.slots}
        where = f"{key[0]}/{key[1]}"
        found += [
            f"{where}: {used} of {free.get(slot, 0)} free {slot[0]}"
            for slot, used in units.items()
            if used > free.get(slot, 0)
        ]
        for what, used, left in (
            ("CPU", sum(a.cpu_milli for a in pods), node.cpu_free),
            ("memory", sum(a.memory_mib for a in pods), node.memory_free_mib),
            ("pods", len(pods), node.pods_free),
        ):
            if used > left and used > 0:
                found.append(f"{where}: {used} of {left} free {what}")
    return found


def _quotas(
    problem: Problem, assignments: list[Assignment], demands: dict[str, Demand]
) -> list[str]:
    found = []
    for quota in problem.quotas:
        used = 0
        for a in assignments:
            if a.cluster != quota.cluster or demands[a.workload].namespace != quota.namespace:
                continue
            amounts = {"cpu": a.cpu_milli, "memory": a.memory_mib, "pods": 1, a.resource: a.gpus}
            used += amounts.get(quota.resource, 0)
        if used > max(0, quota.left):
            found.append(
                f"quota {quota.namespace}/{quota.quota}: {used} of {quota.left} {quota.resource}"
            )
    return found
