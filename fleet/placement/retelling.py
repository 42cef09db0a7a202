"""A stored answer told anew: its texts are made again from its facts, without solving.

Texts are stored in the language in which the answer was made. A reader of another language gets
them from here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fleet.placement.answer import assignments
from fleet.placement.explanation import explain
from fleet.placement.instance import Instance, Replica, build
from fleet.placement.notes import problem_notes, search_notes
from fleet.placement.problem import Problem
from fleet.placement.result import Assignment, Placement, Unplaced


def retold(problem: Problem, placement: Placement) -> tuple[Problem, Placement]:
    """The same problem and answer with texts in the language that is spoken now.

    Where another version of the program would number or explain the answer differently, the
    stored texts stay: they belong to the stored facts.
    """
    spoken = replace(
        problem, notes=problem_notes(problem.nodes, problem.currency, problem.quotas_left_out)
    )
    notes = (*spoken.notes, *search_notes(placement.search_notes))
    answer = replace(placement, notes=notes)
    instance = build(spoken)
    replicas = _replicas(instance, placement.assignments)
    if replicas is None:
        return spoken, answer
    found = assignments(instance, replicas)
    if _without_text(found) == _without_text(placement.assignments):
        answer = replace(answer, assignments=found)
    waits = explain(instance, replicas, may_be_placed=placement.bound_cost_per_hour is None)
    if _facts(waits) == _facts(placement.unplaced):
        answer = replace(answer, unplaced=waits)
    return spoken, answer


def _replicas(instance: Instance, found: Sequence[Assignment]) -> list[Replica] | None:
    """The replicas behind the assignments; None when they do not belong to the problem."""
    demands = {d.workload: index for index, d in enumerate(instance.demands)}
    nodes = {(n.cluster, n.node): index for index, n in enumerate(instance.nodes)}
    pods: dict[tuple[str, int], list[Assignment]] = {}
    for a in found:
        pods.setdefault((a.workload, a.replica), []).append(a)
    items = {(item.demand, item.shape): item for item in instance.items}
    spots = {
        key: {(spot.node, spot.slot): spot for spot in item.spots} for key, item in items.items()
    }
    replicas: list[Replica] = []
    for (workload, _), placed in pods.items():
        key = (demands.get(workload, -1), placed[0].shape)
        if key not in items:
            return None
        places = []
        for a in placed[:: items[key].pods]:
            node = nodes.get((a.cluster, a.node), -1)
            slots = instance.nodes[node].slots if node >= 0 else ()
            kinds = [(s.resource, s.gpu_model, s.mig_profile) for s in slots]
            kind = (a.resource, a.gpu_model, a.mig_profile)
            spot = spots[key].get((node, kinds.index(kind))) if kind in kinds else None
            if spot is None:
                return None
            places.append(spot)
        replicas.append(Replica(*key, tuple(places)))
    return replicas


def _without_text(found: Sequence[Assignment]) -> list[Assignment]:
    return [replace(a, why_here="") for a in found]


def _facts(waits: Sequence[Unplaced]) -> list[object]:
    return [(u.workload, u.replicas, u.code, u.parts) for u in waits]
