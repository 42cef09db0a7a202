"""Which number formats a card can hold and compute, and what is used where it cannot.

The rules and their sources: docs/sizing.md, "Number formats and cards".
"""

from __future__ import annotations

from dataclasses import dataclass

from fleet.catalogue.accelerators import Accelerator
from fleet.sizing.cards import Card
from fleet.words import say

SOURCE = "docs/sizing.md, Number formats and cards"

_VOLTA_AND_OLDER = frozenset({"Kepler", "Maxwell", "Pascal", "Volta"})
_TURING_AND_OLDER = _VOLTA_AND_OLDER | {"Turing"}
_NO_ENGINE = frozenset({"Kepler", "Maxwell", "Pascal"})
_CDNA = frozenset({"CDNA", "CDNA2", "CDNA3", "CDNA4"})


@dataclass(frozen=True, slots=True)
class Rule:
    """Whether a format works on a card. ``note`` says what is used instead, or why not; it
    follows the name of the card."""

    works: bool
    note: str = ""


def about(cards: str, note: str) -> str:
    """The sentence of a rule's note about one card, or several."""
    return say("{cards}: {note}.", cards=cards, note=note)


def inference_rule(card: Card, precision: str) -> Rule:
    """Whether an inference engine serves that weight format on that card."""
    board = card.accelerator
    if board is None:
        return Rule(True, say("whether it computes {precision} is not known", precision=precision))
    refused = _not_modelled(board)
    if refused:
        return Rule(False, refused)
    if board.vendor == "AMD":
        return _amd(board, precision)
    return _nvidia(board, precision)


def training_rule(card: Card, recipe: str, method: str) -> Rule:
    """Whether a training recipe runs on that card."""
    board = card.accelerator
    if board is None:
        return Rule(True, say("whether it computes {precision} is not known", precision="bf16"))
    refused = _not_modelled(board)
    if refused:
        return Rule(False, refused)
    if board.has_bf16:
        return Rule(True)
    if method == "full" and recipe != "mixed":
        return Rule(
            False,
            say("{architecture} has no bf16; use recipe mixed", architecture=board.architecture),
        )
    return Rule(True, say("no bf16, trains in fp16 with loss scaling"))


def has_flash_attention(card: Card) -> bool:
    """Whether attention runs without storing the score matrix (Ampere and later, CDNA2 on).

    Unknown cards are taken to lack it.
    """
    board = card.accelerator
    if board is None:
        return False
    return board.has_bf16 and board.vendor in ("NVIDIA", "AMD") and board.architecture != "CDNA"


def has_fp8_kv(card: Card) -> bool:
    """Whether keys and values can be stored in 8 bits (Ampere and later, CDNA3 on)."""
    board = card.accelerator
    if board is None:
        return False
    if board.vendor == "AMD":
        return board.architecture in ("CDNA3", "CDNA4")
    return board.vendor == "NVIDIA" and board.has_bf16


def _not_modelled(board: Accelerator) -> str:
    if board.vendor not in ("NVIDIA", "AMD"):
        return say("the formulas cover NVIDIA and AMD Instinct cards only")
    if board.vendor == "AMD" and board.architecture not in _CDNA:
        return say(
            "{architecture} is not served, engines are built for CDNA",
            architecture=board.architecture,
        )
    if board.architecture in _NO_ENGINE:
        return say(
            "{architecture} is not served, engines need Volta or later",
            architecture=board.architecture,
        )
    return ""


def _nvidia(board: Accelerator, precision: str) -> Rule:
    architecture = board.architecture
    old = architecture in _TURING_AND_OLDER
    if precision == "bf16" and old:
        return Rule(True, say("no bf16, served in fp16, which takes the same memory"))
    if precision in ("fp8", "nvfp4", "mxfp4") and old:
        return Rule(False, _no_kernels(architecture, precision))
    if precision == "int8" and architecture in _VOLTA_AND_OLDER:
        return Rule(
            False, say("{architecture} has no int8 matrix units", architecture=architecture)
        )
    if precision == "fp8" and board.fp8_tflops is None and architecture == "Ampere":
        return Rule(True, say("stores fp8 weights, computes in bf16"))
    if precision in ("nvfp4", "mxfp4") and not architecture.startswith("Blackwell"):
        return Rule(True, _computes_in_16_bits(precision))
    return Rule(True)


def _amd(board: Accelerator, precision: str) -> Rule:
    architecture = board.architecture
    if precision == "nvfp4":
        return Rule(False, say("nvfp4 is a format of NVIDIA cards"))
    if precision in ("fp8", "mxfp4") and architecture not in ("CDNA3", "CDNA4"):
        return Rule(False, _no_kernels(architecture, precision))
    if precision == "mxfp4" and architecture == "CDNA3":
        return Rule(True, _computes_in_16_bits(precision))
    return Rule(True)


def _no_kernels(architecture: str, precision: str) -> str:
    return say(
        "{architecture} has no kernels for {precision}",
        architecture=architecture,
        precision=precision,
    )


def _computes_in_16_bits(precision: str) -> str:
    return say("stores {precision} weights, computes in 16 bits", precision=precision)
