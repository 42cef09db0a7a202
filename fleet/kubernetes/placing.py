"""From what a cluster states about its topology to the place of every node."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

from fleet.inventory import DeclaredTopology, Inventory, Node
from fleet.kubernetes.hypernodes import HyperTree, hyper_tree
from fleet.kubernetes.objects import RawCluster
from fleet.kubernetes.objects_gangs import HyperNodeObject, ResourceFlavorObject, TopologyObject
from fleet.kubernetes.topology import Keys, clique_places, lay
from fleet.kubernetes.topology_proposal import propose, uncarried

MOST_ASKED = 20
"""Keys that gangs ask for; a cluster with more of them has a mistake in its templates."""

_LABEL_TOPOLOGIES = (
    ("Kueue Topology", "topologies.kueue.x-k8s.io"),
    ("KAI Topology", "topologies.kai.scheduler"),
    ("Grove ClusterTopologyBinding", "clustertopologybindings.grove.io"),
)


def placed(inventory: Inventory, raw: RawCluster, levels: Keys = ()) -> Inventory:
    """The inventory with the place of every node: by ``levels``, or by those it proposes."""
    tree = hyper_tree(raw.of(HyperNodeObject, "hypernodes.topology.volcano.sh"), inventory.nodes)
    nodes = tuple(_with_places(node, tree) for node in inventory.nodes)
    topologies = (*_label_topologies(raw), *tree.topologies)
    found = replace(
        inventory,
        nodes=nodes,
        topologies=topologies,
        proposed_levels=propose(nodes, topologies, _asked(inventory)),
        problems=(*inventory.problems, *tree.problems, *uncarried(nodes, topologies)),
    )
    return lay(found, levels)


def _with_places(node: Node, tree: HyperTree) -> Node:
    places = clique_places(node.labels) | tree.places.get(node.name, {})
    return replace(node, places=places) if places else node


def _label_topologies(raw: RawCluster) -> Iterator[DeclaredTopology]:
    flavors: dict[str, list[str]] = defaultdict(list)
    for flavor in raw.of(ResourceFlavorObject, "resourceflavors.kueue.x-k8s.io"):
        if flavor.spec.topologyName:
            flavors[flavor.spec.topologyName].append(flavor.metadata.name)
    for word, resource in _LABEL_TOPOLOGIES:
        for item in raw.of(TopologyObject, resource):
            levels = [level for level in item.spec.levels or () if level.nodeLabel or level.key]
            yield DeclaredTopology(
                source=f"{word} {item.metadata.name}",
                keys=tuple(level.nodeLabel or level.key for level in levels),
                names=tuple(_own_name(level.domain) for level in levels),
                flavors=tuple(sorted(flavors[item.metadata.name])) if "Kueue" in word else (),
            )


def _own_name(text: str) -> str:
    """A level's name as its object gives it, where it can be a name here."""
    is_name = text.isascii() and text.replace("-", "").isalnum() and text == text.lower()
    return text if is_name and len(text) <= 60 else ""


def _asked(inventory: Inventory) -> list[tuple[str, str]]:
    """(label key, who asks) of gangs that want to stay within one domain."""
    found: dict[str, str] = {}
    for item in inventory.gang_objects:
        if item.kind != "Topology":
            for key in item.topology_keys:
                found.setdefault(key, f"{item.kind} {item.namespace}/{item.name}")
    for controller in inventory.controllers:
        for key in controller.topology_keys:
            name = f"{controller.kind} {controller.namespace}/{controller.name}"
            found.setdefault(key, name)
    return list(found.items())[:MOST_ASKED]
