"""What a cluster holds, as frozen values: the one language between reading, judging and placing.

Three numbers are kept apart everywhere. *Physical*: boards in the machine. *Schedulable*: units
that the scheduler can hand out (allocatable). *Requested*: units that pods ask for. Cost divides
by physical, placement fits on schedulable.

``None`` means "the objects do not say" and is shown as unknown, never as 0.
Everything here can be encoded and decoded with msgspec (``encode`` / ``decode``).
"""

from __future__ import annotations

from fleet.inventory.cluster import (
    Inventory,
    ReadResult,
    ReadStatus,
    ServerVersion,
    decode,
    encode,
    encode_parts,
)
from fleet.inventory.devices import (
    AttachedDevices,
    DeviceClass,
    DeviceGroup,
    DeviceHolder,
    DeviceTaint,
    PartlyUsed,
    Sharing,
    UnitKind,
    Units,
)
from fleet.inventory.nodes import (
    DeclaredTopology,
    Node,
    NodeAffinity,
    NodeRule,
    ProposedLevel,
    Taint,
    Toleration,
    TopologyLevel,
)
from fleet.inventory.pods import ContainerProbes, Gang, Owner, Pod, ProbeTimes, api_group
from fleet.inventory.workloads import Controller, GangObject, PodRole, PriorityClass, Quota

__all__ = [
    "AttachedDevices",
    "ContainerProbes",
    "Controller",
    "DeclaredTopology",
    "DeviceClass",
    "DeviceGroup",
    "DeviceHolder",
    "DeviceTaint",
    "Gang",
    "GangObject",
    "Inventory",
    "Node",
    "NodeAffinity",
    "NodeRule",
    "Owner",
    "PartlyUsed",
    "Pod",
    "PodRole",
    "PriorityClass",
    "ProbeTimes",
    "ProposedLevel",
    "Quota",
    "ReadResult",
    "ReadStatus",
    "ServerVersion",
    "Sharing",
    "Taint",
    "Toleration",
    "TopologyLevel",
    "UnitKind",
    "Units",
    "api_group",
    "decode",
    "encode",
    "encode_parts",
]
