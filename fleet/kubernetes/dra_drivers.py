"""Which DRA drivers publish GPUs, and of which vendor. Everything else is listed, never counted.

A driver's name is a DNS name that its maker owns; GPU drivers are called ``gpu.<maker>`` by
convention (kubernetes-sigs/dra-example-driver). What neither the table nor the convention knows
is no GPU: NICs, CPUs, memory, IMEX channels, TPUs are published in the same way.
"""

from __future__ import annotations

from functools import lru_cache

UNKNOWN = "unknown"

_TABLE: dict[str, str | None] = {
    "gpu.nvidia.com": "nvidia",
    "hami-core-gpu.project-hami.io": "nvidia",
    "gpu.amd.com": "amd",
    "gpu.intel.com": "intel",
    "compute-domain.nvidia.com": None,  # IMEX channels and daemons of an NVLink domain
    "gaudi.intel.com": None,
    "qat.intel.com": None,
    "tpu.google.com": None,
    "neuron.aws.com": None,
    "dra.net": None,
    "dra.cpu": None,
    "dra.memory": None,
}
_MAKERS = {"nvidia.com": "nvidia", "amd.com": "amd", "intel.com": "intel"}
_NOT_GPU_TYPES = frozenset({"channel", "daemon", "nic", "nvswitch", "switch"})


@lru_cache(maxsize=4096)
def driver_vendor(driver: str) -> str | None:
    """The vendor of a GPU driver, "unknown" for a GPU driver of nobody we know; None for drivers
    of anything else."""
    if driver in _TABLE:
        return _TABLE[driver]
    first, _, domain = driver.partition(".")
    if not domain or first not in ("gpu", "vgpu"):
        return None
    maker = ".".join(domain.split(".")[-2:])
    return _MAKERS.get(maker, UNKNOWN)


def is_gpu_type(kind: str) -> bool:
    """Whether a device of a GPU driver with that ``type`` is a GPU or a part of one."""
    return kind not in _NOT_GPU_TYPES


@lru_cache(maxsize=4096)
def may_hold_gpus(class_name: str, drivers: tuple[str, ...]) -> bool:
    """Whether devices of a DeviceClass are GPUs: by the drivers that its selectors name, else by
    its own name, which charts make from the driver's ("mig.nvidia.com", "vfio.gpu.nvidia.com")."""
    if drivers:
        return any(driver_vendor(driver) is not None for driver in drivers)
    if class_name in _TABLE:
        return _TABLE[class_name] is not None
    first = class_name.partition(".")[0]
    if first.startswith(("compute-domain", "imex", "nic", "rdma", "dra")):
        return False
    words = class_name.replace("-", ".").split(".")
    return (
        "gpu" in words or "vgpu" in words or "mig" in words or driver_vendor(class_name) is not None
    )
