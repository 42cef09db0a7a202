"""The machines of the big synthetic cluster: GPU generations, where they stand, what ails some.

Everything follows from the number of a node and the seed, so any node can be made alone.
Names and figures are invented; the labels are those of the tools that write them.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from functools import cache
from typing import Any

Json = dict[str, Any]

RACK = 8
RACKS_IN_BLOCK = 16
BLOCKS_IN_ZONE = 14
SEED = 20261201
_GOLDEN = 0.6180339887498949


@dataclass(frozen=True, slots=True)
class Machine:
    """One kind of node. ``weight``: its share of the racks. ``memory_mib`` is of one board."""

    pool: str
    weight: int
    instance_type: str
    cpu: int
    memory_gib: int
    boards: int = 0
    devices: dict[str, int] = field(default_factory=dict)
    product: str = ""
    memory_mib: int = 0
    replicas: int = 1
    mig: str = ""  # GFD's mig.strategy, "" for a card without MIG
    taint: str = "nvidia.com/gpu"
    trains: bool = False
    arch: str = "amd64"


def _whole(boards: int) -> dict[str, int]:
    return {"nvidia.com/gpu": boards}


MACHINES = (
    Machine("cpu-general", 26, "m7i.16xlarge", 64, 256, taint=""),
    Machine("h100-train", 14, "p5.48xlarge", 192, 2048, 8, _whole(8), "NVIDIA-H100-80GB-HBM3",
            81559, mig="none", trains=True),
    Machine("h100-serve", 10, "p5.48xlarge", 192, 2048, 8, _whole(8), "NVIDIA-H100-80GB-HBM3",
            81559, mig="none"),
    Machine("h200-train", 8, "p5en.48xlarge", 192, 2048, 8, _whole(8), "NVIDIA-H200", 143771,
            mig="none", trains=True),
    Machine("b200-train", 5, "p6-b200.48xlarge", 192, 2048, 8, _whole(8), "NVIDIA-B200", 183359,
            mig="none", trains=True),
    Machine("gb200-nvl72", 2, "p6e-gb200.36xlarge", 144, 960, 4, _whole(4), "NVIDIA-GB200",
            189471, mig="none", trains=True, arch="arm64"),
    Machine("a100-mig", 7, "p4de.24xlarge", 96, 1152, 8,
            {"nvidia.com/gpu": 4, "nvidia.com/mig-1g.10gb": 14, "nvidia.com/mig-3g.40gb": 4},
            "NVIDIA-A100-SXM4-80GB", 81920, mig="mixed"),
    Machine("a100-train", 6, "p4de.24xlarge", 96, 1152, 8, _whole(8), "NVIDIA-A100-SXM4-80GB",
            81920, mig="none", trains=True),
    Machine("l40s-shared", 8, "g6e.24xlarge", 96, 768, 4, _whole(16), "NVIDIA-L40S-SHARED", 46068,
            replicas=4),
    Machine("t4-legacy", 9, "g4dn.12xlarge", 48, 192, 4, _whole(4), "Tesla-T4", 15360, taint=""),
    Machine("mi300x", 5, "Standard_ND96isr_MI300X_v5", 96, 1850, 8, {"amd.com/gpu": 8},
            "AMD_Instinct_MI300X_OAM", 196288, taint="amd.com/gpu", trains=True),
)  # fmt: skip


def random_of(*parts: object) -> random.Random:
    """Chance that always falls the same way for the same thing."""
    return random.Random(":".join(map(str, (SEED, *parts))))  # noqa: S311 (no secret)


@cache
def machine_of_rack(rack: int) -> Machine:
    """Racks hold one kind each; multiples of the golden ratio spread the kinds evenly."""
    place = (rack * _GOLDEN + 0.1) % 1 * sum(m.weight for m in MACHINES)
    for machine in MACHINES:
        place -= machine.weight
        if place < 0:
            return machine
    return MACHINES[0]


@dataclass(frozen=True, slots=True)
class Place:
    """One node: its kind, where it stands, and its trouble."""

    number: int
    name: str
    machine: Machine
    zone: str
    block: str
    rack: str
    ready: bool
    cordoned: bool
    sick: int  # boards withdrawn
    driverless: bool  # labels, but no device plugin

    @property
    def takes_pods(self) -> bool:
        return self.ready and not self.cordoned

    @property
    def offered(self) -> dict[str, int]:
        """Devices that the scheduler can hand out, by resource."""
        if self.driverless:
            return {}
        per_board = self.machine.replicas
        main = next(iter(self.machine.devices), "")
        return {
            name: number - (self.sick * per_board if name == main else 0)
            for name, number in self.machine.devices.items()
        }


def place(number: int) -> Place:
    """The node of that number, counted from 0."""
    rack, slot = divmod(number, RACK)
    block = rack // RACKS_IN_BLOCK
    machine = machine_of_rack(rack)
    chance = random_of("node", number)
    luck = chance.random()
    return Place(
        number=number,
        name=f"{machine.pool}-r{rack:04d}-n{slot}",
        machine=machine,
        zone=f"zone-{'abc'[block // BLOCKS_IN_ZONE % 3]}",
        block=f"block-{block:02d}",
        rack=f"rack-{rack % RACKS_IN_BLOCK:02d}",
        ready=luck >= 0.01,
        cordoned=0.01 <= luck < 0.03,
        sick=1 if machine.boards > 1 and 0.03 <= luck < 0.05 else 0,
        driverless=bool(machine.boards) and 0.05 <= luck < 0.055,
    )


def labels(place: Place) -> dict[str, str]:
    """What kubelet, node feature discovery and the vendor's labeller write."""
    machine = place.machine
    found = {
        "kubernetes.io/hostname": place.name,
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": machine.arch,
        "node.kubernetes.io/instance-type": machine.instance_type,
        "node.kubernetes.io/pool": machine.pool,
        "topology.kubernetes.io/region": "region-1",
        "topology.kubernetes.io/zone": place.zone,
        "topology.kubernetes.io/block": place.block,
        "topology.kubernetes.io/rack": place.rack,
        **_FEATURES,
    }
    if machine.taint == "amd.com/gpu":
        found |= {
            "amd.com/gpu.product-name": machine.product,
            "amd.com/gpu.vram": f"{machine.memory_mib // 1024}G",
            "amd.com/gpu.device-id": "74a1",
            "amd.com/gpu.cu-count": "304",
            "amd.com/gpu.family": "AI",
        }
    elif machine.boards:
        found |= _nvidia_labels(machine)
    if machine.pool == "gb200-nvl72":
        found["nvidia.com/gpu.clique"] = f"6d3f0c1e-0000-4000-8000-{place.number // RACK:012d}.1"
    return found


def _nvidia_labels(machine: Machine) -> dict[str, str]:
    found = {
        "nvidia.com/gpu.present": "true",
        "nvidia.com/gpu.count": str(machine.boards),
        "nvidia.com/gpu.product": machine.product,
        "nvidia.com/gpu.memory": str(machine.memory_mib),
        "nvidia.com/gpu.replicas": str(machine.replicas),
        "nvidia.com/gpu.sharing-strategy": "time-slicing" if machine.replicas > 1 else "none",
        "nvidia.com/gpu.machine": "Synthetic-Server",
        "nvidia.com/gpu.mode": "compute",
        "nvidia.com/mps.capable": "false",
        "nvidia.com/vgpu.present": "false",
        "nvidia.com/mig.capable": "true" if machine.mig else "false",
        "nvidia.com/cuda.driver-version.full": "580.95.05",
        "nvidia.com/cuda.runtime-version.full": "13.0",
        **{f"nvidia.com/gpu.deploy.{part}": "true" for part in _OPERANDS},
    }
    if machine.mig:
        found["nvidia.com/mig.strategy"] = machine.mig
    if machine.mig == "mixed":
        for profile, number, memory in (("1g.10gb", 14, 9728), ("3g.40gb", 4, 40192)):
            key = f"nvidia.com/mig-{profile}"
            found |= {
                f"{key}.count": str(number),
                f"{key}.memory": str(memory),
                f"{key}.product": f"{machine.product}-MIG-{profile}",
                f"{key}.replicas": "1",
                f"{key}.sharing-strategy": "none",
            }
    return found


_OPERANDS = ("container-toolkit", "dcgm", "dcgm-exporter", "device-plugin", "driver",
             "gpu-feature-discovery", "node-status-exporter", "operator-validator")  # fmt: skip
_FEATURES = {
    **{
        f"feature.node.kubernetes.io/cpu-cpuid.{name}": "true"
        for name in ("ADX", "AESNI", "AMXBF16", "AMXINT8", "AMXTILE", "AVX", "AVX2", "AVX512BF16",
                     "AVX512BW", "AVX512CD", "AVX512DQ", "AVX512F", "AVX512VL", "AVX512VNNI",
                     "CMPXCHG8", "FMA3", "FXSR", "GFNI", "MOVBE", "OSXSAVE", "SHA", "VAES",
                     "VPCLMULQDQ", "X87", "XSAVE")
    },
    "feature.node.kubernetes.io/kernel-version.full": "6.8.0-1021-generic",
    "feature.node.kubernetes.io/kernel-version.major": "6",
    "feature.node.kubernetes.io/memory-numa": "true",
    "feature.node.kubernetes.io/network-sriov.capable": "true",
    "feature.node.kubernetes.io/system-os_release.ID": "ubuntu",
    "feature.node.kubernetes.io/system-os_release.VERSION_ID": "24.04",
}  # fmt: skip
