"""GPUs that are free and still cannot be had, by cause, with the nodes that hold most of them."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Count, Sum
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from fleet.boards.stranding import why_stranded
from fleet.inventory import Node
from planner.inventory.models import Cluster, NodeRow, Snapshot
from planner.inventory.queries import node_list_url, node_url
from planner.inventory.rows import with_nodes

CAUSE_WORDS = {
    "cpu": gettext_lazy("no CPU left"),
    "memory": gettext_lazy("no memory left"),
    "pods": gettext_lazy("no pod place left"),
    "taint": gettext_lazy("a taint that no workload tolerates"),
}
"""Causes in a few words."""

EXAMPLES = 3
"""Nodes named for each cause."""


@dataclass(frozen=True, slots=True)
class Example:
    """One node, and why its free GPUs cannot be had, with figures."""

    name: str
    url: str
    gpus: int
    why: str


@dataclass(frozen=True, slots=True)
class StrandedLine:
    """The GPUs of one cause."""

    cause: str
    word: str
    gpus: int
    nodes: int
    url: str
    examples: list[Example]
    is_soft: bool = False  # a fragment: free, for smaller pods


def stranded_lines(cluster: Cluster, snapshot: Snapshot) -> list[StrandedLine]:
    """One line a cause that occurs, most GPUs first; fragments, which are still free, last.

    A constant number of statements.
    """
    rows = NodeRow.objects.filter(snapshot=snapshot, is_gpu_node=True)
    sums = {
        row["stranded_cause"]: (row["gpus"], row["nodes"])
        for row in rows.filter(stranded__gt=0)
        .values("stranded_cause")
        .annotate(gpus=Sum("stranded"), nodes=Count("pk"))
        .order_by()
    }
    held = rows.filter(stranded__gt=0).order_by("-stranded", "name")
    lines = [
        StrandedLine(
            cause=cause,
            word=str(CAUSE_WORDS[cause]),
            gpus=sums.get(cause, (0, 0))[0],
            nodes=sums.get(cause, (0, 0))[1],
            url=node_list_url(cluster=cluster.name, cause=cause),
            examples=[
                Example(
                    row.name,
                    node_url(cluster.uuid, row.name),
                    row.stranded or 0,
                    why(row, node),
                )
                for row, node in with_nodes(held.filter(stranded_cause=cause)[:EXAMPLES])
            ],
        )
        for cause in CAUSE_WORDS
    ]
    pieces = rows.filter(fragment__gt=0)
    total = pieces.aggregate(gpus=Sum("fragment"), nodes=Count("pk"))
    fragment = StrandedLine(
        cause="fragment",
        word=_("too small a piece"),
        gpus=total["gpus"] or 0,
        nodes=total["nodes"],
        url=node_list_url(cluster=cluster.name, state="fragment"),
        examples=[
            Example(
                row.name, node_url(cluster.uuid, row.name), row.fragment or 0, why_fragment(row)
            )
            for row in pieces.order_by("-fragment", "name")[:EXAMPLES]
        ],
        is_soft=True,
    )
    found = sorted((line for line in lines if line.gpus), key=lambda line: -line.gpus)
    return [*found, *([fragment] if fragment.gpus else [])]


def why(row: NodeRow, node: Node) -> str:
    """Why free GPUs of the node cannot be had, with figures; "" where none are stranded."""
    if not row.stranded:
        return ""
    return why_stranded(node, row.stranded_cause, row.stranded + (row.free or 0))


def why_fragment(row: NodeRow) -> str:
    """Why some of the free GPUs suit small pods only; "" where that is not so."""
    if not row.fragment or not row.usual_pod:
        return ""
    return ngettext(
        "%(count)d free GPU is too small a piece: pods here usually ask for %(usual)d",
        "%(count)d free GPUs are too small a piece: pods here usually ask for %(usual)d",
        row.fragment,
    ) % {"count": row.fragment, "usual": row.usual_pod}
