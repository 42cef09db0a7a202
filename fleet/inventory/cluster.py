"""The inventory of one cluster, what became of reading it, and its form as bytes."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from itertools import batched

import msgspec

from fleet.inventory.devices import AttachedDevices, DeviceClass
from fleet.inventory.nodes import DeclaredTopology, Node, ProposedLevel
from fleet.inventory.pods import Pod
from fleet.inventory.workloads import Controller, GangObject, PriorityClass, Quota


class ReadStatus(StrEnum):
    """What became of reading one resource. Four different answers."""

    READ = "read"
    FORBIDDEN = "forbidden"  # 403
    NOT_SERVED = "not-served"  # 404: not installed
    NOT_IN_FILE = "not-in-file"  # a file import that does not hold it
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class ReadResult:
    resource: str  # "nodes", "resourceslices.resource.k8s.io"
    status: ReadStatus
    count: int
    reason: str = ""  # a code of fleet.read_words, where the status does not say all
    seconds: float = 0.0
    resource_version: str = ""
    is_consistent: bool = True  # all of it is of one moment
    number: int = 0  # of the reason: a status of HTTP, or how often the list expired


@dataclass(frozen=True, slots=True)
class ServerVersion:
    git_version: str  # "v1.36.3-gke.1", "" when unknown
    major: int | None
    minor: int | None
    source: str  # "GET /version", "kubelet versions (the file has no server version)"
    emulation_minor: int | None = None

    @property
    def is_known(self) -> bool:
        return self.minor is not None


@dataclass(frozen=True, slots=True)
class Inventory:
    """Everything read from one cluster in one sync. Immutable."""

    version: ServerVersion
    provider: str  # gke, eks, aks, oke, k3s, rke2, openshift, kubeadm …, "" unknown
    apis: dict[str, tuple[str, ...]] | None
    """"group/version" -> resources served; None when discovery was not read (files)."""
    nodes: tuple[Node, ...]
    pods: tuple[Pod, ...]
    controllers: tuple[Controller, ...]
    quotas: tuple[Quota, ...]
    namespaces: tuple[str, ...]
    priority_classes: tuple[PriorityClass, ...]
    device_classes: tuple[DeviceClass, ...]
    gang_objects: tuple[GangObject, ...]
    topology_keys: tuple[tuple[str, str], ...]
    """(level name, label key), coarse to fine; one name twice: the first key a node carries."""
    reads: tuple[ReadResult, ...]
    problems: tuple[str, ...]  # one line for each odd object
    taken_at: datetime | None
    other_pods: int = 0  # pods kept only in node sums
    proposed_levels: tuple[ProposedLevel, ...] = ()  # what we would choose, whoever has chosen
    topologies: tuple[DeclaredTopology, ...] = ()
    attached: tuple[AttachedDevices, ...] = ()
    others_attached: dict[str, int] = field(default_factory=dict)
    """Devices offered through DRA that are no GPUs and of no single node, by driver: each once."""
    uncounted: str = ""  # why GPUs may be missing from every count; "" when none are

    def read(self, resource: str) -> ReadResult | None:
        """How reading ``resource`` went; None when it was never asked for."""
        return next((r for r in self.reads if r.resource == resource), None)

    def serves(self, group_version: str, resource: str) -> bool | None:
        """Whether discovery lists the resource; None when discovery was not read."""
        if self.apis is None:
            return None
        return resource in self.apis.get(group_version, ())


def encode(inventory: Inventory) -> bytes:
    """The value as bytes (msgpack), for a snapshot."""
    return msgspec.msgpack.encode(inventory)


def encode_parts(inventory: Inventory) -> Iterator[bytes]:
    """What ``encode`` gives, in parts of bounded size: of a large cluster, the whole is too much
    to hold beside the value. Headers are those of the msgpack specification, map 32 and array 32.
    """
    pack = msgspec.msgpack.Encoder().encode
    fields = dataclasses.fields(inventory)
    yield b"\xdf" + len(fields).to_bytes(4)
    for each in fields:
        value = getattr(inventory, each.name)
        yield pack(each.name)
        if not isinstance(value, tuple):
            yield pack(value)
            continue
        yield b"\xdd" + len(value).to_bytes(4)
        for some in batched(value, 500):
            yield b"".join(map(pack, some))


def decode(data: bytes) -> Inventory:
    """Inverse of ``encode``. Raises ``msgspec.ValidationError`` on foreign bytes."""
    return msgspec.msgpack.decode(data, type=Inventory)
