"""The accelerators that we know, and how to find one by the names that nodes carry.

No two sources write a card the same way, and prefixes lie (H20 and H200; L4, L40 and L40S; GB200
contains B200). So texts are cut into tokens, whole tokens are compared, the longest name first.
A name may fit several cards ("h100"): then all of them are candidates and nobody guesses.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
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


_SEPARATORS = re.compile(r"[^a-z0-9.]+")
_MIG_SUFFIX = re.compile(r"[-_ ]mig[-_ ].*$")
_VGPU = re.compile(r"^(?:grid|nvidia)[-_ ](?P<card>.+)[-_ ](?P<profile>[0-9]{1,3}[abcq])$", re.I)
_VENDORS = ("nvidia", "amd", "intel", "tesla")
_MEMORY = re.compile(r"^([0-9]{1,3})gb?$")
_MAX_TEXT = 200
# Four and three products share these names (Turing, Ada, Blackwell …).
_MANY_PRODUCTS = frozenset({("rtx", "4000"), ("rtx", "5000"), ("rtx", "6000")})
# Reported memory is up to 8 % below (and with ECC off a little above) the marketing figure.
_MEMORY_TOLERANCE = 0.09


def _tokens(text: str) -> tuple[str, ...]:
    parts = [part for part in _SEPARATORS.split(text[:_MAX_TEXT].lower()) if part]
    while len(parts) > 1 and parts[0] in _VENDORS and parts[1] in _VENDORS:
        del parts[0]  # "NVIDIA-NVIDIA H100", "NVIDIA Tesla T4"
    return tuple(parts)


def _bare(tokens: tuple[str, ...]) -> tuple[str, ...]:
    return tokens[1:] if len(tokens) > 1 and tokens[0] in _VENDORS else tokens


def strip_suffixes(label: str) -> str:
    """``nvidia.com/gpu.product`` without ``-SHARED`` and ``-MIG-…``, which say how it is cut."""
    short = label.strip()
    if short.lower().endswith("-shared"):
        short = short[: -len("-shared")]
    return _MIG_SUFFIX.sub("", short) if "mig" in short.lower() else short


def mig_suffix(label: str) -> str:
    """The profile in ``…-MIG-1g.5gb``, "" when there is none, "INVALID" as GFD writes it."""
    match = re.search(r"-MIG-([A-Za-z0-9.+]+?)(-SHARED)?$", label)
    return match.group(1) if match else ""


def vgpu_profile(text: str) -> tuple[str, str] | None:
    """("A100", "40C") out of "GRID-A100-40C" or "GRID_P40-1Q"; None when it is no vGPU."""
    match = _VGPU.match(text.strip()[:_MAX_TEXT])
    if match is None:
        return None
    return match.group("card").upper().replace("_", "-"), match.group("profile").upper()


@cache
def _labels() -> dict[tuple[str, ...], tuple[Accelerator, ...]]:
    found: dict[tuple[str, ...], list[Accelerator]] = {}
    for card in accelerators().values():
        for label in (*card.product_labels, card.name):
            group = found.setdefault(_tokens(strip_suffixes(label)), [])
            if card not in group:
                group.append(card)
    return {key: tuple(cards) for key, cards in found.items()}


@cache
def _aliases() -> tuple[tuple[tuple[str, ...], tuple[Accelerator, ...]], ...]:
    """Names without the vendor, longest first, for finding one inside a longer text."""
    found: dict[tuple[str, ...], list[Accelerator]] = {}
    for tokens, cards in _labels().items():
        bare = _bare(tokens)
        # A driver's bare "NVIDIA-H100" is one card; "h100" in other texts is a family.
        if len(bare) == 1 and len(_family(bare)) > 1:
            continue
        group = found.setdefault(bare, [])
        group.extend(card for card in cards if card not in group)
    ordered = sorted(found.items(), key=lambda item: (-len(item[0]), item[0]))
    return tuple((tokens, tuple(cards)) for tokens, cards in ordered)


def _family(prefix: tuple[str, ...]) -> tuple[Accelerator, ...]:
    size = len(prefix)
    return tuple(c for c in accelerators().values() if _tokens(c.name)[:size] == prefix)


def _contains(text: tuple[str, ...], part: tuple[str, ...]) -> bool:
    size = len(part)
    return any(text[i : i + size] == part for i in range(len(text) - size + 1))


@cache
def candidates(text: str) -> tuple[Accelerator, ...]:
    """All cards that a name may mean; empty when it means none that we know."""
    tokens = _tokens(strip_suffixes(text))
    if not tokens:
        return ()
    exact = _labels().get(tokens)
    if exact:
        return exact
    bare = _bare(tokens)
    if bare in _MANY_PRODUCTS:
        return tuple(c for c in accelerators().values() if set(bare) <= set(_tokens(c.name)))
    family = _family(bare)
    if family:
        return family
    for alias, cards in _aliases():
        if _contains(bare, alias):
            return cards
    for token in bare:
        family = _family((token,))
        if family and not token.isdigit():
            return _filtered(family, bare)
    return ()


def _filtered(cards: tuple[Accelerator, ...], tokens: tuple[str, ...]) -> tuple[Accelerator, ...]:
    """Narrow a family by a memory size and a form that the text names ("H100_NVLINK_80GB")."""
    sizes = [int(m.group(1)) for m in map(_MEMORY.match, tokens) if m]
    if sizes:
        cards = tuple(c for c in cards if c.memory_gib == sizes[0]) or cards
    if any(token.startswith(("sxm", "nvlink")) for token in tokens):
        cards = tuple(c for c in cards if "sxm" in c.name.lower()) or cards
    elif "pcie" in tokens:
        cards = tuple(c for c in cards if "pcie" in c.name.lower()) or cards
    return cards


def match_label(text: str) -> Accelerator | None:
    """The one card that a product name means; None when it is unknown or means several."""
    found = candidates(text)
    return found[0] if len(found) == 1 else None


def from_gke_label(value: str) -> tuple[Accelerator, ...]:
    """Cards of a value of ``cloud.google.com/gke-accelerator``."""
    wanted = value.strip().lower()
    found = tuple(c for c in accelerators().values() if wanted and wanted in c.gke_labels)
    return found or candidates(value)


def from_karpenter(name: str, memory_mib: int | None = None) -> tuple[Accelerator, ...]:
    """Cards of ``karpenter.k8s.aws/instance-gpu-name``; two names cover two memory sizes."""
    wanted = name.strip().lower()
    found = tuple(c for c in accelerators().values() if wanted and wanted in c.karpenter_names)
    return narrowed(found or candidates(name), memory_mib)


def from_pci_id(device: str) -> Accelerator | None:
    """The card of a PCI device id ("2330", "74b5"); None when unknown or shared by two cards."""
    wanted = device.strip().upper()
    found = [
        card
        for card in accelerators().values()
        if any(pci.split(" ")[0].upper() == wanted for pci in card.pci_ids)
    ]
    return found[0] if len(found) == 1 else None


def narrowed(cards: tuple[Accelerator, ...], memory_mib: int | None) -> tuple[Accelerator, ...]:
    """Of several candidates, those whose memory fits what the node reports."""
    if memory_mib is None or len(cards) < 2:
        return cards
    fitting = tuple(
        card
        for card in cards
        if memory_mib in card.seen_mib
        or (
            card.memory_gib is not None
            and abs(memory_mib / (card.memory_gib * 1024) - 1) <= _MEMORY_TOLERANCE
        )
    )
    return fitting or cards


def common_name(cards: Iterable[Accelerator]) -> str | None:
    """The name of the only card, or what the names of several have in common: "H100", "V100"."""
    names = [card.name for card in cards]
    if len(names) < 2:
        return names[0] if names else None
    shared = []
    for parts in zip(*(name.split("-") for name in names), strict=False):
        if len(set(parts)) > 1:
            break
        shared.append(parts[0])
    return "-".join(shared) or None
