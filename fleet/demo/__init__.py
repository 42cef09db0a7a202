"""A synthetic fleet to look around in: three clusters, as the objects that kubectl would print.

Nothing here comes from a real cluster. Cluster names begin with ``demo-`` and every node carries
the annotation ``gpu-fleet-planner/synthetic``. The same objects come out on every call.
"""

from __future__ import annotations

from functools import cache

from fleet.demo.legacy import legacy
from fleet.demo.production import production
from fleet.demo.training import training
from fleet.kubernetes.dump import Source

__all__ = ["demo_clusters"]


@cache
def _clusters() -> tuple[tuple[str, tuple[Source, ...]], ...]:
    return tuple(
        (builder.name, builder.sources()) for builder in (production(), training(), legacy())
    )


def demo_clusters() -> dict[str, tuple[Source, ...]]:
    """Cluster name -> files of that cluster, ready for ``fleet.kubernetes.dump.load``."""
    return dict(_clusters())
