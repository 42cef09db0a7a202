"""From a declared workload and its requirement to a demand that the solver can place."""

from __future__ import annotations

from fleet.inventory import Toleration
from fleet.placement.problem import Demand
from fleet.sizing.requirement import Requirement
from fleet.words import say
from fleet.workloads import Workload


def demand(workload: Workload, requirement: Requirement) -> Demand:
    """The demand of a workload: its working shapes, its constraints, and why cards do not work."""
    constraints = workload.constraints
    shapes = tuple(s for s in requirement.shapes if constraints.allow_mig or s.mig_profile is None)
    refusals = [f"{shape.unit}: {shape.why}" for shape in requirement.refused]
    if len(shapes) < len(requirement.shapes):
        refusals.append(say("MIG devices are not allowed by the workload"))
    return Demand(
        workload=workload.name,
        kind=requirement.kind,
        replicas=workload.replicas,
        priority=workload.priority,
        shapes=shapes,
        clusters=constraints.clusters,
        gpu_models=constraints.gpu_models,
        node_selector=dict(constraints.node_selector),
        tolerations=tuple(
            Toleration(t.key, t.operator, t.value, t.effect) for t in constraints.tolerations
        ),
        tolerate_gpu_taints=constraints.tolerate_gpu_taints,
        domain=constraints.topology,
        gang=constraints.gang,
        namespace=workload.namespace,
        sizing_refusals=tuple(refusals),
    )
