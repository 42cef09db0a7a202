"""How good and how fast the placement is: the first answer against the exact part.

    python benchmarks/placement.py [--seconds 20] [--sizes 40,400,1200,5000]

Fleets and workloads are synthetic (seeded): mixed T4, A100 and H100 nodes that are partly used,
with racks; embedding, LLM and training demands of several priorities that together ask for more
than there is. Printed for each size: replicas placed and cost of both answers as a ratio to the
bound, and their times.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from decimal import Decimal
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from fleet.placement.constructive import construct
from fleet.placement.instance import build, rank
from fleet.placement.problem import Demand, NodeCapacity, Problem, Slot
from fleet.placement.solver import Budget, solve
from fleet.sizing.requirement import Fit, MemoryUse, Shape

T4, A100, H100 = "T4", "A100-SXM4-80GB", "H100-SXM5-80GB"
CARDS = ((T4, 4, "0.98"), (A100, 8, "3.11"), (H100, 8, "6.88"))


def shape(model: str, gpus: int, pods: int = 1) -> Shape:
    use = MemoryUse(1000.0, 0.0, 0.0, 0.0, 0.0)
    return Shape(
        model, None, gpus, pods, "", 8000 * gpus, 65_536 * gpus, 8e4, use, Fit.FITS, "", ()
    )


def fleet(nodes: int, rng: random.Random) -> list[NodeCapacity]:
    found = []
    for number in range(nodes):
        model, gpus, price = CARDS[rng.choices((0, 1, 2), (3, 3, 4))[0]]
        free = gpus - rng.choice((0, 0, 0, 1, 2, 4, gpus))
        cluster = f"c{number % 3}"
        found.append(
            NodeCapacity(
                cluster=cluster,
                node=f"{model.lower()}-{number:05d}",
                schedulable=rng.random() > 0.03,
                reason="cordoned",
                slots=(Slot("nvidia.com/gpu", model, None, free, Decimal(price)),),
                cpu_free=free * 12_000 + rng.choice((0, 4_000, 9_000)),
                memory_free_mib=free * 98_304,
                pods_free=100,
                taints=(),
                labels={},
                domains={
                    "node": f"{number}",
                    "nvlink": None,
                    "rack": f"r{number // 24}",
                    "zone": None,
                },
            )
        )
    return found


def demands(nodes: list[NodeCapacity], workloads: int, rng: random.Random) -> list[Demand]:
    free = sum(s.free for n in nodes for s in n.slots)
    share = max(1, round(free * 1.1 / workloads))
    found = []
    for number in range(workloads):
        kind = rng.choices(("embedding", "llm", "training"), (4, 4, 2))[0]
        domain = "any"
        if kind == "embedding":
            shapes = [shape(T4, 1), shape(A100, 1), shape(H100, 1)]
        elif kind == "llm":
            gpus = rng.choice((1, 2, 4))
            shapes = [shape(H100, gpus), shape(A100, gpus * 2)]
        else:
            shapes = [shape(rng.choice((A100, H100)), 8, rng.choice((2, 4)))]
            domain = rng.choice(("any", "rack"))
        size = min(s.gpus for s in shapes)
        found.append(
            Demand(
                workload=f"{kind}-{number:03d}",
                kind=kind,
                replicas=max(1, share // size),
                priority=rng.choice((0, 0, 100, 1000)),
                shapes=tuple(shapes),
                clusters=(),
                gpu_models=(),
                node_selector={},
                tolerations=(),
                tolerate_gpu_taints=True,
                domain=domain,
                gang=True,
            )
        )
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--sizes", default="40,400,1200")
    parser.add_argument("--seeds", type=int, default=2)
    arguments = parser.parse_args()
    print("nodes  workloads seed | first: s  placed/bound  cost | all: s  placed/bound  cost  gap")
    for size in (int(text) for text in arguments.sizes.split(",")):
        for seed in range(arguments.seeds):
            rng = random.Random(seed)  # noqa: S311 (repeatable, no secret)
            nodes = fleet(size, rng)
            workloads = min(200, max(12, size // 10))
            problem = Problem(tuple(nodes), tuple(demands(nodes, workloads, rng)))
            started = time.monotonic()
            instance = build(problem)
            first = construct(instance, lambda: False)
            seconds = time.monotonic() - started
            reached = rank(instance, first)
            found = solve(problem, Budget(arguments.seconds))
            placed = sum(n for _, n in found.score.placed_by_priority)
            gap = "unknown" if found.gap is None else f"{found.gap:.4%}"
            print(
                f"{size:5d}  {workloads:9d} {seed:4d} | {seconds:8.2f}  "
                f"{sum(reached.placed) / found.bound_replicas:12.4f}  "
                f"{-reached.micro / 1e6:8.2f} | {found.seconds:6.2f}  "
                f"{placed / found.bound_replicas:12.4f}  {found.score.cost_per_hour:8.2f}  "
                f"{gap} {found.status.value} {found.solver}"
            )


if __name__ == "__main__":
    main()
