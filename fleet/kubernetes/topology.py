"""Where a node stands: zone, block, rack, NVLink domain.

No vendor-neutral keys exist. A Kueue ``Topology`` object says it best; else the keys of the
clouds and tools that the nodes carry. Values are unique only below their parent (two blocks may
both have a "rack-1"), so a domain is the *path* of values: ``Node.domain``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from fleet.inventory import TopologyLevel

Keys = tuple[tuple[str, str], ...]

_ZONE = ("topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone")
_CLIQUE = "nvidia.com/gpu.clique"
# Coarse to fine. The level that holds what one network leaf or one rack holds is called "rack".
_FAMILIES: tuple[Keys, ...] = (
    (
        ("block", "cloud.google.com/gce-topology-block"),
        ("rack", "cloud.google.com/gce-topology-subblock"),
        ("host", "cloud.google.com/gce-topology-host"),
    ),
    (
        ("spine", "topology.k8s.aws/network-node-layer-1"),
        ("block", "topology.k8s.aws/network-node-layer-2"),
        ("rack", "topology.k8s.aws/network-node-layer-3"),
    ),
    (
        ("block", "oci.oraclecloud.com/host.network_block_id"),
        ("rack", "oci.oraclecloud.com/host.rack_id"),
    ),
    (
        ("fabric", "backend.coreweave.cloud/fabric"),
        ("superpod", "ib.coreweave.cloud/superpod"),
        ("leaf", "backend.coreweave.cloud/leafgroup"),
        ("rack", "node.coreweave.cloud/rack"),
    ),
    (("block", "crusoe.ai/ib.partition.id"), ("rack", "crusoe.ai/pod.id")),
    (
        ("core", "network.topology.nvidia.com/core"),
        ("spine", "network.topology.nvidia.com/spine"),
        ("rack", "network.topology.nvidia.com/leaf"),
    ),
    (
        ("block", "topology.kubernetes.io/block"),
        ("rack", "topology.kubernetes.io/rack"),
    ),
)
_NVLINK = (
    ("nvlink", "accelerator.topograph.run/domain"),
    ("nvlink", "network.topology.nvidia.com/accelerator"),
    ("nvlink", _CLIQUE),
)
_TIER = re.compile(r"fabric\.topograph\.run/tier-([0-9]{1,2})")
_GENERIC = re.compile(r"(?:^|[/._-])(block|rack)$")
_HOSTNAME = "kubernetes.io/hostname"


def level_name(key: str) -> str:
    """ "rack" out of "cloud.provider.com/topology-rack"; the key's last word otherwise."""
    for name, known in (pair for family in _FAMILIES for pair in family):
        if key == known:
            return name
    if key in _ZONE:
        return "zone"
    if key in {k for _, k in _NVLINK}:
        return "nvlink"
    found = _GENERIC.search(key)
    return found.group(1) if found else re.split(r"[/._-]", key)[-1]


def topology_keys(
    label_sets: Sequence[dict[str, str]], kueue_levels: Iterable[Sequence[str]]
) -> Keys:
    """(level, label key), coarse to fine, that these nodes can be told apart by.

    ``kueue_levels`` are the node labels of the cluster's Kueue topologies; one whose labels no
    node carries is passed over.
    """
    present = {key for labels in label_sets for key, value in labels.items() if value}
    zone = tuple(("zone", key) for key in _ZONE if key in present)[:1]
    nvlink = tuple(pair for pair in _NVLINK if pair[1] in present)[:1]
    for levels in kueue_levels:
        keys = [key for key in levels if key != _HOSTNAME]
        if keys and all(key in present for key in keys):
            named = tuple((level_name(key), key) for key in keys)
            taken = set(keys)
            return tuple(
                pair for pair in (*zone, *named, *nvlink)
                if pair in named or pair[1] not in taken
            )  # fmt: skip
    return (*zone, *_network(present), *nvlink)


def _network(present: set[str]) -> Keys:
    tiers = sorted((int(m.group(1)) for m in map(_TIER.fullmatch, present) if m), reverse=True)
    if tiers:  # tier 0 is nearest the node, higher is wider
        return tuple(
            ("rack" if tier == 0 else f"tier-{tier}", f"fabric.topograph.run/tier-{tier}")
            for tier in tiers
        )
    for family in _FAMILIES:
        found = tuple(pair for pair in family if pair[1] in present)
        if found:
            return found
    generic = {m.group(1): key for key in sorted(present) if (m := _GENERIC.search(key))}
    return tuple((name, generic[name]) for name in ("block", "rack") if name in generic)


def levels_of(labels: dict[str, str], keys: Keys) -> tuple[TopologyLevel, ...]:
    """The node's place on every level; ``value`` None where it lacks the label."""
    found = []
    for name, key in keys:
        value = labels.get(key) or None
        if value is not None and key == _CLIQUE:
            # "<cluster uuid>.<clique>": the part before the last dot is the physical domain.
            value = value.rpartition(".")[0] or value
        found.append(TopologyLevel(name, key, value))
    return tuple(found)
