"""The label keys that clouds and tools write about where a node stands, and what to call them.

Sources: topograph docs/reference/node-labels.md (topograph, GCP, AWS, OCI, Crusoe, cliques), the
CoreWeave documentation of InfiniBand and RoCE labels, Kubernetes' well-known labels. No key for
racks or blocks of Azure is known.
"""

from __future__ import annotations

import re

Pairs = tuple[tuple[str, str], ...]

REGION = "topology.kubernetes.io/region"
ZONE = "topology.kubernetes.io/zone"
HOSTNAME = "kubernetes.io/hostname"
OLD_NAMES = {
    REGION: "failure-domain.beta.kubernetes.io/region",
    ZONE: "failure-domain.beta.kubernetes.io/zone",
}
"""Deprecated keys, read where a node carries no new one."""

CLIQUE = "nvidia.com/gpu.clique"
CLIQUE_DOMAIN = "nvidia.com/gpu.clique/domain"
"""The physical domain of a clique. Two slashes: no label can be called so."""

TIER = re.compile(r"fabric\.topograph\.run/tier-([0-9]{1,2})")

# Coarse to fine; of several keys of one level the one that most nodes carry is taken. The level
# that holds what one network leaf or one rack holds is called "rack".
FAMILIES: tuple[Pairs, ...] = (
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
        ("fabric", "ib.coreweave.cloud/fabric"),
        ("superpod", "ib.coreweave.cloud/superpod"),
        ("leaf", "backend.coreweave.cloud/leafgroup"),
        ("leaf", "ib.coreweave.cloud/leafgroup"),
        ("rack", "node.coreweave.cloud/rack"),
    ),
    (("block", "crusoe.ai/ib.partition.id"), ("rack", "crusoe.ai/pod.id")),
    (  # topograph before 1.0; its first releases said datacenter and block for core and leaf
        ("core", "network.topology.nvidia.com/core"),
        ("core", "network.topology.nvidia.com/datacenter"),
        ("spine", "network.topology.nvidia.com/spine"),
        ("rack", "network.topology.nvidia.com/leaf"),
        ("rack", "network.topology.nvidia.com/block"),
    ),
    (
        ("block", "topology.kubernetes.io/block"),
        ("rack", "topology.kubernetes.io/rack"),
    ),
)

NVLINK = (
    CLIQUE_DOMAIN,
    "accelerator.topograph.run/domain",
    "network.topology.nvidia.com/accelerator",
)
"""Where an NVLink domain is read, the surest first."""

PARTITIONS = {
    CLIQUE_DOMAIN: CLIQUE,
    "accelerator.topograph.run/domain": "accelerator.topograph.run/sub-domain",
}
"""The key that tells the partitions of a domain apart."""

CAPACITY_BLOCK = "topology.k8s.aws/capacity-block-id"
"""The NVLink domain of AWS's UltraServers."""

ULTRA_SERVERS = re.compile(r"(?:u-)?(?:p6e-gb[23]00|trn2u)")
"""Instance types of AWS whose capacity block is one NVLink or NeuronLink domain."""

OF_SOME_MACHINES = frozenset({*NVLINK, *PARTITIONS.values(), CAPACITY_BLOCK})
"""Keys of what only some machines have: a node without them is not lost."""

_HYPER_TIER = "hypernodes.topology.volcano.sh/tier-"
_GENERIC = re.compile(r"(?:^|[/._-])(block|rack)$")
_NAMES = {
    REGION: "region",
    ZONE: "zone",
    CLIQUE: "nvlink-partition",
    "accelerator.topograph.run/sub-domain": "nvlink-partition",
    CAPACITY_BLOCK: "nvlink",
    "fabric.topograph.run/tier-0": "rack",
    "backend.coreweave.cloud/leafgroup-name": "leaf",
    **{old: new.rpartition("/")[2] for new, old in OLD_NAMES.items()},
    **{key: name for family in FAMILIES for name, key in family},
    **dict.fromkeys(NVLINK, "nvlink"),
}


def level_name(key: str) -> str:
    """What people call the level of a key: "rack" out of "cloud.provider.com/topology-rack".

    The key's last word where nothing better is known; letters, digits and hyphens only.
    """
    if key in _NAMES:
        return _NAMES[key]
    found = _GENERIC.search(key)
    if found:
        return found.group(1)
    if TIER.fullmatch(key) or key.startswith(_HYPER_TIER):
        word = key.rpartition("/")[2]
    else:
        word = re.split(r"[/._-]", key)[-1]
    return re.sub(r"[^a-z0-9-]+", "-", word.lower()).strip("-")[:60] or "level"


def hyper_tier_key(tier: int) -> str:
    """The key under which the HyperNode of a node at ``tier`` is kept."""
    return f"{_HYPER_TIER}{tier}"
