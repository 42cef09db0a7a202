"""Where a plan lands, as doors: clusters and nodes with their pages, and which are synthetic."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from django.urls import reverse
from django.utils.translation import ngettext

from fleet.placement.phrases import place_name
from fleet.placement.problem import NodeCapacity
from planner.inventory.models import Cluster
from planner.inventory.queries import node_url

MAX_NODES_NAMED = 4


@dataclass(frozen=True, slots=True)
class ClusterDoor:
    """A cluster by the name that an answer knows it by. ``url`` is empty when it is gone."""

    name: str
    url: str = ""
    synthetic: bool = False


class NodeDoor(NamedTuple):
    name: str
    url: str  # empty when the cluster is gone


@dataclass(frozen=True, slots=True)
class NodesOfCluster:
    """Some nodes of one cluster: the first few by name, and how many more."""

    cluster: ClusterDoor
    nodes: tuple[NodeDoor, ...]
    more: str  # "and 3 more nodes", or ""

    @property
    def text(self) -> str:
        """For a terminal: "train-tokyo: gpu-1, gpu-2 and 3 more nodes"."""
        names = ", ".join(node.name for node in self.nodes)
        return f"{self.cluster.name}: {names} {self.more}".rstrip()


@dataclass(frozen=True, slots=True)
class LinkedText:
    """A sentence that names a node, cut around that name. Without a node all is ``before``."""

    before: str
    link: str = ""
    url: str = ""
    after: str = ""


class Places:
    """The clusters behind the names of an answer."""

    def __init__(self, clusters: Iterable[Cluster]) -> None:
        self._clusters = {cluster.name: cluster for cluster in clusters}

    def cluster(self, name: str) -> ClusterDoor:
        found = self._clusters.get(name)
        if found is None:
            return ClusterDoor(name)
        url = reverse("inventory:cluster-detail", args=[found.uuid])
        return ClusterDoor(name, url, found.is_synthetic)

    def node(self, cluster: str, node: str) -> NodeDoor:
        found = self._clusters.get(cluster)
        return NodeDoor(node, node_url(found.uuid, node) if found is not None else "")

    def nodes(self, cluster: str, names: Iterable[str]) -> NodesOfCluster:
        """At most ``MAX_NODES_NAMED`` of the nodes, each once, in the order given."""
        unique = list(dict.fromkeys(names))
        more = len(unique) - MAX_NODES_NAMED
        text = ngettext("and %(n)d more node", "and %(n)d more nodes", more) % {"n": more}
        return NodesOfCluster(
            cluster=self.cluster(cluster),
            nodes=tuple(self.node(cluster, name) for name in unique[:MAX_NODES_NAMED]),
            more=text if more > 0 else "",
        )

    def linked(self, text: str, nodes: Iterable[NodeCapacity]) -> LinkedText:
        """``text`` with a door at the node that it names, as "cluster / node"."""
        found = [(place_name(node), node) for node in nodes if _names(text, place_name(node))]
        if not found:
            return LinkedText(text)
        name, node = max(found, key=lambda pair: len(pair[0]))
        before, _name, after = text.partition(name)
        return LinkedText(before, name, self.node(node.cluster, node.node).url, after)


def _names(text: str, name: str) -> bool:
    """Whether ``name`` stands in the text as a whole, not as the start of a longer name."""
    _before, found, after = text.partition(name)
    return bool(found) and not (after[:1].isalnum() or after[:1] in ("-", "_"))


def cluster_words(count: int, synthetic: int) -> str:
    """ "on 3 clusters (2 of them synthetic)": made-up machines never count silently."""
    values = {"n": count, "synthetic": synthetic}
    if not synthetic:
        text = ngettext("on %(n)d cluster", "on %(n)d clusters", count)
    elif synthetic == count:
        text = ngettext("on %(n)d synthetic cluster", "on %(n)d synthetic clusters", count)
    else:
        text = ngettext(
            "on %(n)d clusters (%(synthetic)d of them synthetic)",
            "on %(n)d clusters (%(synthetic)d of them synthetic)",
            synthetic,
        )
    return text % values
