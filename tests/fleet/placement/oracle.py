"""The best answer by trying every one, written apart from the solver."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from itertools import combinations_with_replacement

from fleet.catalogue.accelerators import accelerators
from fleet.placement.problem import Demand, NodeCapacity, Problem
from fleet.sizing.requirement import Shape

State = tuple[int, ...]
Value = tuple[tuple[Fraction, ...], Decimal, Decimal]  # placed, -power without price, -cost


def best(problem: Problem) -> tuple[dict[int, Fraction], Decimal, Decimal]:
    """(replicas placed by priority, power on cards without a price, cost per hour).

    A replica without gang counts the share of its pods that is placed.
    """
    levels = sorted({d.priority for d in problem.demands}, reverse=True)
    start: State = (
        *(free for n in problem.nodes for free in _room(n)),
        *(q.left for q in problem.quotas),
    )
    states: dict[State, Value] = {start: ((Fraction(0),) * len(levels), Decimal(0), Decimal(0))}
    for demand in problem.demands:
        options = list(_options(problem, demand))
        for _ in range(demand.replicas):
            found = dict(states)  # not placing this replica
            for state, (placed, power, cost) in states.items():
                for share, use, extra_power, extra_cost in options:
                    left = tuple(have - need for have, need in zip(state, use, strict=True))
                    if min(left) < 0:
                        continue
                    more = tuple(
                        count + (share if level == demand.priority else 0)
                        for count, level in zip(placed, levels, strict=True)
                    )
                    value = (more, power - extra_power, cost - extra_cost)
                    if left not in found or found[left] < value:
                        found[left] = value
            states = found
    placed, power, cost = max(states.values())
    return dict(zip(levels, placed, strict=True)), -power, -cost


def _room(node: NodeCapacity) -> list[int]:
    return [*(s.free for s in node.slots), node.cpu_free, node.memory_free_mib, node.pods_free]


def _options(problem: Problem, demand: Demand):
    """(share, use of every resource, power without price, cost) of one replica, each way to place
    it or, without gang, some of its pods."""
    for shape in demand.shapes:
        places = [
            (n, s)
            for n, node in enumerate(problem.nodes)
            for s, slot in enumerate(node.slots)
            if (slot.gpu_model, slot.mig_profile) == (shape.gpu_model, shape.mig_profile)
            and _allowed(demand, shape, node)
        ]
        for pods in range(shape.pods if demand.gang else 1, shape.pods + 1):
            for chosen in combinations_with_replacement(places, pods):
                nodes = [problem.nodes[n] for n, _ in chosen]
                if len({n.cluster for n in nodes}) == 1 and _together(demand, shape, nodes):
                    share = Fraction(pods, shape.pods)
                    yield share, *_use(problem, demand, shape, chosen)


def _allowed(demand: Demand, shape: Shape, node: NodeCapacity) -> bool:
    return (
        node.schedulable
        and not node.taints
        and (not demand.clusters or node.cluster in demand.clusters)
        and (not demand.gpu_models or shape.gpu_model in demand.gpu_models)
    )


def _together(demand: Demand, shape: Shape, nodes: list[NodeCapacity]) -> bool:
    if demand.domain == "any":
        return True
    if demand.domain == "node":
        return len({n.node for n in nodes}) == 1
    if demand.domain == "nvlink" and shape.pods * shape.gpus_per_pod == 1:
        return True
    if demand.domain == "rack" and shape.pods == 1:
        return True
    named = {n.domains[demand.domain] for n in nodes}
    return len(named) == 1 and None not in named


def _use(
    problem: Problem, demand: Demand, shape: Shape, chosen: tuple[tuple[int, int], ...]
) -> tuple[State, Decimal, Decimal]:
    rooms = [[0] * (len(n.slots) + 3) for n in problem.nodes]
    quotas = [0] * len(problem.quotas)
    power = cost = Decimal(0)
    for n, s in chosen:
        slot = problem.nodes[n].slots[s]
        rooms[n][s] += shape.gpus_per_pod
        rooms[n][-3] += shape.cpu_milli
        rooms[n][-2] += shape.memory_mib
        rooms[n][-1] += 1
        for q, quota in enumerate(problem.quotas):
            if (quota.cluster, quota.namespace) == (problem.nodes[n].cluster, demand.namespace):
                quotas[q] += {
                    slot.resource: shape.gpus_per_pod,
                    "cpu": shape.cpu_milli,
                    "pods": 1,
                }.get(quota.resource, 0)
        if slot.price_per_unit_hour is None:
            power += shape.gpus_per_pod * round(accelerators()[slot.gpu_model].bf16_tflops)
        else:
            cost += shape.gpus_per_pod * slot.price_per_unit_hour
    return (*(x for room in rooms for x in room), *quotas), power, cost
