"""What a row of a table of nodes shows, made before the template sees it: fifty rows of eleven
cells are too many for template logic."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from fleet.inventory import Sharing
from planner.frame import gpus
from planner.inventory.models import Cluster, NodeRow
from planner.inventory.queries import cluster_url, node_url
from planner.inventory.stranded import CAUSE_WORDS

MOST_SQUARES = 64
"""Squares of one row; their number stands beside them in words."""


@dataclass(frozen=True, slots=True)
class NodeLine:
    """One node with its links and words."""

    node: NodeRow
    url: str
    cluster: Cluster
    cluster_url: str
    model: str  # "" when the node names none
    sharing: str  # "" for whole GPUs
    instance_type: str  # "" where it is the pool
    squares: str
    counts: str  # the squares in words
    notes: list[str]  # what is odd about it, beside "takes pods"


def node_lines(nodes: Iterable[NodeRow]) -> Iterator[NodeLine]:
    """A line a node, in their order. Links to clusters and words are made once."""
    clusters: dict[int, str] = {}
    words: dict[str, str] = {}
    for node in nodes:
        cluster = node.snapshot.cluster
        if cluster.pk not in clusters:
            clusters[cluster.pk] = cluster_url(cluster)
        if node.squares not in words:
            words[node.squares] = gpus.words(Counter(node.squares))
        squares, counts = gpus.squares_html(node.squares[:MOST_SQUARES]), words[node.squares]
        if node.is_gpu_node and node.physical is None:
            squares, counts = gpus.squares_html("x"), _("number of GPUs unknown")
        yield NodeLine(
            node=node,
            url=node_url(cluster.uuid, node.name),
            cluster=cluster,
            cluster_url=clusters[cluster.pk],
            model=node.model_words,
            sharing=node.sharing if node.sharing != Sharing.WHOLE else "",
            instance_type=node.instance_type if node.instance_type != node.pool else "",
            squares=squares,
            counts=counts,
            notes=list(_notes(node)),
        )


def _notes(node: NodeRow) -> Iterator[str]:
    if node.unhealthy:
        yield ngettext(
            "%(n)d GPU withdrawn or sick", "%(n)d GPUs withdrawn or sick", node.unhealthy
        ) % {"n": node.unhealthy}
    if node.physical_estimated and node.physical is not None:
        yield _("number of GPUs estimated")
    if node.stranded:
        yield _("stranded: %(cause)s") % {"cause": CAUSE_WORDS.get(node.stranded_cause, "")}
    if node.problem_count:
        yield ngettext("%(n)d odd value", "%(n)d odd values", node.problem_count) % {
            "n": node.problem_count
        }
    if node.fragment:
        yield ngettext(
            "%(n)d free GPU is too small a piece",
            "%(n)d free GPUs are too small a piece",
            node.fragment,
        ) % {"n": node.fragment}
