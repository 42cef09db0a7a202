"""Which nodes a workload may use at all, before any counting of free units.

The order of the tests is the order of the funnel in an explanation.
"""

from __future__ import annotations

from fleet.inventory import Taint
from fleet.placement.problem import Demand, NodeCapacity, Slot
from fleet.sizing.requirement import Shape
from fleet.tolerations import GPU_TAINT_KEYS, untolerated


def blocking_taint(demand: Demand, node: NodeCapacity, resource: str) -> Taint | None:
    """The first taint that keeps pods of the demand off the node; None when there is none.

    With ``tolerate_gpu_taints`` a taint whose key is the resource asked for, or a vendor's main
    GPU resource, is tolerated.
    """
    for taint in untolerated(node.taints, demand.tolerations):
        if demand.tolerate_gpu_taints and (taint.key == resource or taint.key in GPU_TAINT_KEYS):
            continue
        return taint
    return None


def matches_selector(demand: Demand, node: NodeCapacity) -> bool:
    """Whether the node carries every label of the node selector with that value."""
    return all(node.labels.get(key) == value for key, value in demand.node_selector.items())


def in_clusters(demand: Demand, node: NodeCapacity) -> bool:
    """Whether the node's cluster is allowed."""
    return not demand.clusters or node.cluster in demand.clusters


def model_allowed(demand: Demand, shape: Shape) -> bool:
    """Whether the GPU model of the shape is allowed."""
    return not demand.gpu_models or shape.gpu_model in demand.gpu_models


def card_matches(shape: Shape, slot: Slot) -> bool:
    """Whether the units of the slot are the units that the shape is made of."""
    return shape.gpu_model == slot.gpu_model and shape.mig_profile == slot.mig_profile


def lacks_domain(demand: Demand, shape: Shape, node: NodeCapacity) -> bool:
    """Whether the node is out because it does not say which topology domain it is in.

    It need not say when one pod alone stays within any rack or zone, or when one GPU alone needs
    no NVLink.
    """
    if demand.domain in ("any", "node"):
        return False
    is_spread = shape.gpus > 1 if demand.domain == "nvlink" else shape.pods > 1
    return is_spread and node.domains.get(demand.domain) is None


def admits(demand: Demand, node: NodeCapacity, resource: str) -> bool:
    """The tests that do not look at the shape: cluster, selector, taints, node state."""
    return (
        node.schedulable
        and in_clusters(demand, node)
        and matches_selector(demand, node)
        and blocking_taint(demand, node, resource) is None
    )
