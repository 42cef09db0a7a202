"""The answer of sizing: shapes that work, shapes that do not, and the arithmetic of each."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Fit(StrEnum):
    FITS = "fits"
    TIGHT = "tight"
    NO = "no"


@dataclass(frozen=True, slots=True)
class Line:
    """One line of arithmetic: "weights", "70.55 B × 2 bytes / 4", 32.9 GiB, source."""

    label: str
    formula: str
    mib: float | None  # None for lines that are not memory (a verdict, a rule)
    source: str


@dataclass(frozen=True, slots=True)
class MemoryUse:
    """Memory on one GPU, MiB."""

    weights: float
    kv_cache: float  # inference: for the stated concurrency; training: 0
    activations: float
    optimizer: float  # training states besides weights; inference: 0
    overhead: float

    @property
    def total(self) -> float:
        return self.weights + self.kv_cache + self.activations + self.optimizer + self.overhead


@dataclass(frozen=True, slots=True)
class Shape:
    """One way to run one replica: ``pods`` pods with ``gpus_per_pod`` units of ``gpu_model``."""

    gpu_model: str  # catalogue name
    mig_profile: str | None  # "1g.10gb" when the unit is a MIG device, else None (whole GPU)
    gpus_per_pod: int
    pods: int
    parallelism: str  # "TP4", "TP8 × PP2", "ZeRO-3 × 16"
    cpu_milli: int  # of one pod
    memory_mib: int  # host memory of one pod
    usable_mib: float  # of one GPU or MIG device
    use: MemoryUse
    fit: Fit
    why: str  # one sentence
    lines: tuple[Line, ...]
    max_concurrency: int | None = None  # inference: requests of mean length at once
    load_seconds: tuple[float, float] | None = None  # range until ready

    @property
    def gpus(self) -> int:
        """Units of one replica."""
        return self.gpus_per_pod * self.pods

    @property
    def unit(self) -> str:
        """The card as a person says it: "H100-SXM5-80GB" or "A100-SXM4-40GB MIG 1g.5gb"."""
        return f"{self.gpu_model} MIG {self.mig_profile}" if self.mig_profile else self.gpu_model


@dataclass(frozen=True, slots=True)
class Requirement:
    """What one replica needs. ``shapes`` holds those that work (fits before tight, fewest GPUs
    first); ``refused`` the best try of every card that does not work, with the reason."""

    workload: str
    kind: str
    shapes: tuple[Shape, ...]
    refused: tuple[Shape, ...]
    sentence: str  # "2 × H100 80 GB or 4 × A100 40 GB, in one node"
    assumptions: tuple[str, ...]  # what was assumed because it was not stated
    confidence: str  # "calculated, typical error 6 %"
