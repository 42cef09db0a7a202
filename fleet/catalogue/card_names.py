"""Finding a card by the names that nodes, clouds and tools give it.

No two sources write a card the same way, and prefixes lie (H20 and H200; L4, L40 and L40S; GB200
contains B200). So texts are cut into tokens, whole tokens are compared, the longest name first.
A name may fit several cards ("h100"): then all of them are candidates and nobody guesses. A name
of a card that the table lacks ("RTX-4070", "Arc_A770") fits none, not its neighbours.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, lru_cache

from fleet.catalogue.accelerators import Accelerator, accelerators

Cards = tuple[Accelerator, ...]
Tokens = tuple[str, ...]

_SEPARATORS = re.compile(r"[^a-z0-9.]+")
_MIG_SUFFIX = re.compile(r"[-_ ]mig[-_ ].*$", re.IGNORECASE)
_MIG_PROFILE = re.compile(r"-MIG-([A-Za-z0-9.+-]+?)(-SHARED)?$", re.IGNORECASE)
# "40C", and "1-5C" where the slice is cut out of a MIG device.
_VGPU = re.compile(
    r"^(?:grid|nvidia)[-_ ](?P<card>.+?)[-_ ](?P<profile>(?:[0-9]-)?[0-9]{1,3}[abcq])$",
    re.IGNORECASE,
)
_VENDORS = ("nvidia", "amd", "intel", "tesla")
_MEMORY = re.compile(r"([0-9]{1,3})gb?")
_MAX_TEXT = 200
# Four and three products share these names (Turing, Ada, Blackwell …).
_MANY_PRODUCTS = frozenset({("rtx", "4000"), ("rtx", "5000"), ("rtx", "6000")})
# Beside the name of a card these make it another card, with other memory and speed.
_OTHER_CARD = frozenset(
    {"laptop", "mobile", "notebook", "embedded", "super", "ti", "d", "max", "maxq"}
)
# Reported memory is up to 8 % below (and with ECC off a little above) the marketing figure.
_MEMORY_TOLERANCE = 0.09


def _tokens(text: str) -> Tokens:
    parts = [part for part in _SEPARATORS.split(text[:_MAX_TEXT].lower()) if part]
    while len(parts) > 1 and parts[0] in _VENDORS and parts[1] in _VENDORS:
        del parts[0]  # "NVIDIA-NVIDIA H100", "NVIDIA Tesla T4"
    return tuple(parts)


def _bare(tokens: Tokens) -> Tokens:
    return tokens[1:] if len(tokens) > 1 and tokens[0] in _VENDORS else tokens


def _is_model(token: str) -> bool:
    """Brands ("rtx", "max") and figures ("4000", "80gb") name no card by themselves."""
    mixed = any(c.isdigit() for c in token) and any(c.isalpha() for c in token)
    return mixed and _MEMORY.fullmatch(token) is None


def strip_suffixes(label: str) -> str:
    """``nvidia.com/gpu.product`` without ``-SHARED`` and ``-MIG-…``, which say how it is cut."""
    short = label.strip()
    if short.lower().endswith("-shared"):
        short = short[: -len("-shared")]
    return _MIG_SUFFIX.sub("", short)


def mig_suffix(label: str) -> str:
    """The profile in ``…-MIG-1g.5gb``, "" when there is none, "INVALID" as GFD writes it."""
    match = _MIG_PROFILE.search(label.strip())
    if match is None:
        return ""
    found = match.group(1)
    return found.upper() if found.upper() == "INVALID" else found.lower()


def vgpu_profile(text: str) -> tuple[str, str] | None:
    """("A100", "40C") out of "GRID-A100-40C" or "GRID_P40-1Q"; None when it is no vGPU."""
    match = _VGPU.match(strip_suffixes(text[:_MAX_TEXT]))
    if match is None:
        return None
    return match.group("card").upper().replace("_", "-"), match.group("profile").upper()


@cache
def _labels() -> dict[Tokens, Cards]:
    found: dict[Tokens, list[Accelerator]] = {}
    for card in accelerators().values():
        for label in (*card.product_labels, card.name):
            group = found.setdefault(_tokens(strip_suffixes(label)), [])
            if card not in group:
                group.append(card)
    return {key: tuple(cards) for key, cards in found.items()}


@cache
def _aliases() -> tuple[tuple[Tokens, Cards], ...]:
    """Names without the vendor, longest first, for finding one inside a longer text."""
    found: dict[Tokens, list[Accelerator]] = {}
    for tokens, cards in _labels().items():
        bare = _bare(tokens)
        # A driver's bare "NVIDIA-H100" is one card; "h100" in other texts is a family.
        if len(bare) == 1 and len(_family(bare)) > 1:
            continue
        group = found.setdefault(bare, [])
        group.extend(card for card in cards if card not in group)
    ordered = sorted(found.items(), key=lambda item: (-len(item[0]), item[0]))
    return tuple((tokens, tuple(cards)) for tokens, cards in ordered)


@cache
def _written_together() -> dict[str, Cards]:
    """Names without any separator: "rtx4090", "h100nvl", "a6000"."""
    found: dict[str, list[Accelerator]] = {}
    for tokens, cards in _aliases():
        names = ["".join(tokens)] if len(tokens) > 1 else []
        if tokens[0] == "rtx" and len(tokens) == 2 and _is_model(tokens[1]):
            names.append(tokens[1])
        for name in names:
            group = found.setdefault(name, [])
            group.extend(card for card in cards if card not in group)
    return {name: tuple(cards) for name, cards in found.items()}


def _family(prefix: Tokens) -> Cards:
    size = len(prefix)
    return tuple(c for c in accelerators().values() if _tokens(c.name)[:size] == prefix)


def _without(text: Tokens, part: Tokens) -> Tokens | None:
    """The text less one run of tokens; None when it does not hold that run."""
    size = len(part)
    for i in range(len(text) - size + 1):
        if text[i : i + size] == part:
            return (*text[:i], *text[i + size :])
    return None


@lru_cache(maxsize=4096)  # texts come from clusters: any number of them
def candidates(text: str) -> Cards:
    """All cards that a name may mean; empty when it means none that we know."""
    tokens = _tokens(strip_suffixes(text[:_MAX_TEXT]))
    if not tokens:
        return ()
    exact = _labels().get(tokens)
    if exact:
        return exact
    bare = _bare(tokens)
    if bare in _MANY_PRODUCTS:
        return tuple(c for c in accelerators().values() if set(bare) <= set(_tokens(c.name)))
    family = _family(bare) if any(map(_is_figure, bare)) else ()
    return family or _written_together().get("".join(bare), ()) or _inside(bare)


def _is_figure(token: str) -> bool:
    return any(c.isdigit() for c in token)


def _inside(text: Tokens) -> Cards:
    """Cards that a longer text names. One that names two means either."""
    found: list[Accelerator] = []
    rest = text
    for alias, cards in _aliases():
        shorter = _without(rest, alias)
        if shorter is not None:
            rest = shorter
            found.extend(card for card in cards if card not in found)
    for token in rest:
        if _is_model(token) and (family := _family((token,))):
            rest = tuple(t for t in rest if t != token)
            found.extend(card for card in family if card not in found)
    if _OTHER_CARD & set(rest):
        return ()
    return _filtered(tuple(found), rest)


def _filtered(cards: Cards, tokens: Tokens) -> Cards:
    """Narrow by a memory size and a form that the text names ("H100_NVLINK_80GB")."""
    sizes = [int(m.group(1)) * 1024 for m in map(_MEMORY.fullmatch, tokens) if m]
    if sizes:
        # A size that no card has is a card that the table lacks, never its neighbour.
        cards = tuple(c for c in cards if fits_memory(c, sizes[0]))
    if any(token.startswith(("sxm", "nvlink")) for token in tokens):
        cards = tuple(c for c in cards if "sxm" in c.name.lower()) or cards
    elif "pcie" in tokens:
        cards = tuple(c for c in cards if "pcie" in c.name.lower()) or cards
    return cards


def described(text: str, memory_mib: int | None) -> Cards:
    """Cards of a product name on a node that states the memory of its boards.

    A bare name is one card ("NVIDIA-H100" has 94 GB) unless the memory says otherwise: then it is
    a member of the family. A name that holds a size itself is believed.
    """
    found = candidates(text)
    if memory_mib is None:
        return found
    if len(found) == 1 and not fits_memory(found[0], memory_mib):
        bare = _bare(_tokens(strip_suffixes(text)))
        family = _family(bare) if any(map(_is_figure, bare)) else ()
        return tuple(card for card in family if fits_memory(card, memory_mib)) or found
    return narrowed(found, memory_mib)


def match_label(text: str) -> Accelerator | None:
    """The one card that a product name means; None when it is unknown or means several."""
    found = candidates(text)
    return found[0] if len(found) == 1 else None


def from_gke_label(value: str) -> Cards:
    """Cards of a value of ``cloud.google.com/gke-accelerator`` or ``…/gke-tpu-accelerator``."""
    wanted = value.strip().lower()
    found = tuple(c for c in accelerators().values() if wanted and wanted in c.gke_labels)
    return found or candidates(value)


def from_karpenter(name: str, memory_mib: int | None = None) -> Cards:
    """Cards of ``karpenter.k8s.aws/instance-gpu-name``; two names cover two memory sizes."""
    wanted = name.strip().lower()
    found = tuple(c for c in accelerators().values() if wanted and wanted in c.karpenter_names)
    return narrowed(found or candidates(name), memory_mib)


def from_pci_id(device: str) -> Cards:
    """Cards of a PCI device id ("2330", "74b5"); some ids are shared by two cards."""
    wanted = device.strip().upper()
    return tuple(
        card
        for card in accelerators().values()
        if any(pci.split(" ")[0].upper() == wanted for pci in card.pci_ids)
    )


def fits_memory(card: Accelerator, memory_mib: int) -> bool:
    """Whether a node that reports so much memory per board can hold that card."""
    if memory_mib in card.seen_mib:
        return True
    if card.memory_gib is None:
        return False
    return abs(memory_mib / (card.memory_gib * 1024) - 1) <= _MEMORY_TOLERANCE


def narrowed(cards: Cards, memory_mib: int | None) -> Cards:
    """Of several candidates, those whose memory fits what the node reports."""
    if memory_mib is None or len(cards) < 2:
        return cards
    return tuple(card for card in cards if fits_memory(card, memory_mib)) or cards


def common_name(cards: Iterable[Accelerator]) -> str | None:
    """The name of the only card, or what the names of several have in common: "H100", "V100".

    A brand in common ("RTX") is no name.
    """
    names = [card.name for card in cards]
    if len(names) < 2:
        return names[0] if names else None
    shared = []
    for parts in zip(*(name.split("-") for name in names), strict=False):
        if len(set(parts)) > 1:
            break
        shared.append(parts[0])
    return "-".join(shared) if any(map(_is_figure, shared)) else None
