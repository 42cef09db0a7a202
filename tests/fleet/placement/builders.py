"""Short ways to say a node, a shape, a demand; and random small problems."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from hypothesis import strategies as st

from fleet.inventory import Taint
from fleet.placement.problem import Demand, NodeCapacity, Problem, QuotaRoom, Slot
from fleet.sizing.requirement import Fit, MemoryUse, Shape

H100 = "H100-SXM5-80GB"
A100 = "A100-SXM4-80GB"
T4 = "T4"


def shape(
    model: str = H100,
    gpus: int = 1,
    *,
    pods: int = 1,
    cpu: int = 1000,
    memory: int = 1024,
    mig: str | None = None,
    fit: Fit = Fit.FITS,
) -> Shape:
    use = MemoryUse(1000.0, 0.0, 0.0, 0.0, 0.0)
    return Shape(model, mig, gpus, pods, "TP1", cpu, memory, 80_000.0, use, fit, "it fits", ())


def slot(
    model: str = H100,
    free: int = 8,
    price: str | None = "6.88",
    *,
    resource: str = "nvidia.com/gpu",
    mig: str | None = None,
) -> Slot:
    return Slot(resource, model, mig, free, None if price is None else Decimal(price))


def node(
    name: str,
    *slots: Slot,
    cluster: str = "prod",
    cpu: int = 96_000,
    memory: int = 1_000_000,
    pods: int = 100,
    rack: str | None = None,
    zone: str | None = None,
    nvlink: str | None = None,
    **more: Any,
) -> NodeCapacity:
    domains = {"node": name, "nvlink": nvlink, "rack": rack, "zone": zone}
    values: dict[str, Any] = {
        "schedulable": True,
        "reason": "",
        "taints": (),
        "labels": {},
    }
    values.update(more)
    return NodeCapacity(
        cluster=cluster,
        node=name,
        slots=slots or (slot(),),
        cpu_free=cpu,
        memory_free_mib=memory,
        pods_free=pods,
        domains=domains,
        **values,
    )


def demand(
    name: str,
    *shapes: Shape,
    replicas: int = 1,
    priority: int = 0,
    domain: str = "any",
    **more: Any,
) -> Demand:
    values: dict[str, Any] = {
        "kind": "llm",
        "clusters": (),
        "gpu_models": (),
        "node_selector": {},
        "tolerations": (),
        "tolerate_gpu_taints": True,
        "gang": True,
    }
    values.update(more)
    return Demand(
        workload=name,
        replicas=replicas,
        priority=priority,
        shapes=shapes,
        domain=domain,
        **values,
    )


def problem(nodes: list[NodeCapacity], demands: list[Demand], *quotas: QuotaRoom) -> Problem:
    return Problem(tuple(nodes), tuple(demands), tuple(quotas))


_CARDS = (
    (T4, None, "nvidia.com/gpu", "0.5"),
    (A100, None, "nvidia.com/gpu", "3.1"),
    (A100, "1g.10gb", "nvidia.com/mig-1g.10gb", "0.45"),
    (H100, None, "nvidia.com/gpu", None),
)


@st.composite
def small_problems(draw: st.DrawFn, max_nodes: int = 4, max_demands: int = 6) -> Problem:
    """At most 4 nodes and 6 workloads: small enough to try every answer."""
    cards = st.sampled_from(_CARDS)
    few = st.integers(0, 4)
    nodes = []
    for number in range(draw(st.integers(1, max_nodes))):
        kinds = draw(st.lists(cards, min_size=1, max_size=2, unique_by=lambda c: c[2]))
        slots = [slot(m, draw(few), p, resource=r, mig=g) for m, g, r, p in kinds]
        nodes.append(
            node(
                f"n{number}",
                *slots,
                cluster=draw(st.sampled_from(["a", "a", "b"])),
                cpu=draw(st.integers(0, 9)),
                memory=draw(st.integers(0, 9)),
                pods=draw(few),
                rack=draw(st.sampled_from(["r1", "r2", None])),
                nvlink=draw(st.sampled_from(["v1", "v2", None])),
                schedulable=draw(st.sampled_from([True, True, True, False])),
                taints=draw(st.sampled_from([(), (), (Taint("team", "x", "NoSchedule"),)])),
            )
        )
    demands = []
    for number in range(draw(st.integers(1, max_demands))):
        shapes = []
        for m, g, _, _ in draw(st.lists(cards, min_size=1, max_size=2, unique=True)):
            shapes.append(
                shape(
                    m,
                    draw(st.integers(1, 3)),
                    mig=g,
                    pods=draw(st.sampled_from([1, 1, 2, 3])),
                    cpu=draw(st.integers(0, 4)),
                    memory=draw(st.integers(0, 4)),
                )
            )
        demands.append(
            demand(
                f"w{number}",
                *shapes,
                replicas=draw(st.integers(1, 2)),
                priority=draw(st.sampled_from([0, 0, 5])),
                domain=draw(st.sampled_from(["any", "any", "node", "rack", "nvlink"])),
                clusters=draw(st.sampled_from([(), (), ("a",)])),
                gpu_models=draw(st.sampled_from([(), (), (A100, T4)])),
                namespace=draw(st.sampled_from(["default", "search"])),
                gang=draw(st.sampled_from([True, True, False])),
            )
        )
    quotas = draw(
        st.lists(
            st.builds(
                QuotaRoom,
                st.just("a"),
                st.sampled_from(["default", "search"]),
                st.just("q"),
                st.sampled_from(["nvidia.com/gpu", "nvidia.com/mig-1g.10gb", "cpu", "pods"]),
                st.integers(0, 5),
            ),
            max_size=2,
        )
    )
    return problem(nodes, demands, *quotas)


@st.composite
def contested_problems(draw: st.DrawFn) -> Problem:
    """Alike nodes and more demand than room: where greedy answers go wrong."""
    racks = draw(st.sampled_from([("r1",), ("r1", "r2")]))
    nodes = []
    for model, price in draw(
        st.sampled_from([((H100, "6.88"),), ((H100, "6.88"), (A100, "3.1")), ((T4, None),)])
    ):
        free, cpu = draw(st.sampled_from([2, 4, 5])), draw(st.sampled_from([4, 6, 99]))
        for number in range(draw(st.integers(1, 2))):
            rack = racks[number % len(racks)]
            nodes.append(
                node(f"{model}-{number}", slot(model, free, price), cpu=cpu, rack=rack, pods=9)
            )
    models = sorted({s.gpu_model for n in nodes for s in n.slots})
    demands = []
    for number in range(draw(st.integers(2, 5))):
        shapes = [
            shape(
                model,
                draw(st.integers(1, 4)),
                pods=draw(st.sampled_from([1, 1, 1, 2])),
                cpu=draw(st.integers(0, 3)),
                memory=1,
            )
            for model in draw(st.lists(st.sampled_from(models), min_size=1, unique=True))
        ]
        demands.append(
            demand(
                f"w{number}",
                *shapes,
                replicas=draw(st.integers(1, 3)),
                priority=draw(st.sampled_from([0, 0, 5])),
                domain=draw(st.sampled_from(["any", "rack"])),
                gang=draw(st.booleans()),
            )
        )
    return problem(nodes, demands)
