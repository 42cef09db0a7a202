"""The accelerators that we know, and what an engine can use of their memory."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from fleet.catalogue.tables import integer, number, rows


@dataclass(frozen=True, slots=True)
class Accelerator:
    """One model. Figures are dense and per GPU; None is unknown."""

    vendor: str  # "NVIDIA", "AMD", …
    name: str
    architecture: str
    launch_year: int | None
    memory_gib: float | None  # marketing capacity
    bandwidth_gbs: float | None
    bf16_tflops: float | None  # FP16 for Pascal, Volta, Turing and Vega
    fp8_tflops: float | None
    fp4_tflops: float | None
    tdp_w: float | None
    nvlink_domain_size: int | None
    mig_max: int
    form_factor: str
    seen_mib: tuple[int, ...]  # MiB values that nodes report
    product_labels: tuple[str, ...]
    gke_labels: tuple[str, ...]
    karpenter_names: tuple[str, ...]
    pci_ids: tuple[str, ...]
    source: str
    notes: str

    @property
    def has_bf16(self) -> bool:
        """Whether the card computes in bfloat16 (Ampere and later, all CDNA)."""
        return self.architecture not in {"Kepler", "Maxwell", "Pascal", "Volta", "Turing"}


def _parts(cell: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in cell.replace("|", ";").split(";") if part.strip())


@cache
def accelerators() -> dict[str, Accelerator]:
    """All accelerators by catalogue name."""
    found = {}
    for row in rows("accelerators.csv"):
        found[row["model"]] = Accelerator(
            vendor=row["vendor"],
            name=row["model"],
            architecture=row["architecture"],
            launch_year=integer(row["launch_year"]),
            memory_gib=number(row["memory_gib"]),
            bandwidth_gbs=number(row["memory_bandwidth_gbs"]),
            bf16_tflops=number(row["bf16_dense_tflops"]),
            fp8_tflops=number(row["fp8_dense_tflops"]),
            fp4_tflops=number(row["fp4_dense_tflops"]),
            tdp_w=number(row["tdp_w"]),
            nvlink_domain_size=integer(row["nvlink_domain_size"]),
            mig_max=integer(row["mig_max"]) or 0,
            form_factor=row["form_factor"],
            seen_mib=tuple(int(v) for v in _parts(row["gfd_memory_mib_seen"]) if v.isdigit()),
            product_labels=_parts(row["k8s_product_labels"]),
            gke_labels=_parts(row["gke_accelerator_label"]),
            karpenter_names=_parts(row["karpenter_gpu_name"]),
            pci_ids=_parts(row["pci_device_ids"]),
            source=row["source"],
            notes=row["notes"],
        )
    return found


def accelerator(name: str) -> Accelerator | None:
    """The accelerator of that catalogue name."""
    return accelerators().get(name)


# GiB that inference engines print as the total of the card, from their own logs. Using the
# marketing figure instead is 2 to 8 % too much and turns tight cases around.
_ENGINE_TOTAL_GIB: dict[str, float] = {
    "T4": 14.6,
    "A10G": 22.06,
    "L4": 22.0,
    "RTX-3090": 23.58,
    "RTX-4090": 23.5,
    "V100-PCIe-32GB": 31.7,
    "V100-SXM2-32GB": 31.7,
    "RTX-5090": 31.4,
    "A100-PCIe-40GB": 39.4,
    "A100-SXM4-40GB": 39.4,
    "A40": 44.4,
    "L40S": 44.4,
    "RTX-A6000": 47.4,
    "A100-PCIe-80GB": 79.1,
    "A100-SXM4-80GB": 79.1,
    "H100-PCIe-80GB": 79.1,
    "H100-SXM5-80GB": 79.1,
    "H100-NVL-94GB": 93.0,
    "RTX-PRO-6000-Blackwell-Server": 94.97,
    "H200-SXM-141GB": 139.8,
    "H200-NVL-141GB": 139.8,
    "B200": 178.4,
    "GB200": 185.0,
    "B300": 268.0,
    "GB300": 268.0,
}
# Where no engine log is known: the lowest ratios seen among the cards above, against the MiB
# that the driver reports (T4, A10G, L4: 0.98) and against the marketing figure (0.915).
_OF_REPORTED = 0.975
_OF_MARKETING = 0.915


def usable_mib(card: Accelerator) -> float:
    """MiB that an engine sees as the total of the card; 0.0 when nothing is known of it."""
    known = _ENGINE_TOTAL_GIB.get(card.name)
    if known is not None:
        return known * 1024
    if card.seen_mib:
        return min(card.seen_mib) * _OF_REPORTED
    return (card.memory_gib or 0.0) * 1024 * _OF_MARKETING
