"""How long until a pod is ready: image, weights from storage, engine start.

Observed rates and their sources: docs/sizing.md, "Load time".
"""

from __future__ import annotations

from dataclasses import dataclass

from fleet.sizing.requirement import Line
from fleet.units import duration_text
from fleet.words import say

SOURCE = "docs/sizing.md, Load time"
FAST_GBPS = 2.0  # local NVMe, or network SSD with a parallel streamer
SLOW_GBPS = 0.31  # network SSD with the default loader
_PULL_SECONDS = 180.0  # 8-13 GB image; the slow end
_START_SECONDS = {"dense": (38.0, 110.0), "moe": (60.0, 250.0), "embedding": (5.0, 30.0)}


@dataclass(frozen=True, slots=True)
class LoadTime:
    """Seconds from the start of the pod until it can answer."""

    low: float
    high: float
    line: Line


def assumption() -> str:
    """What the range of load times stands for."""
    return say(
        "Load time: from local NVMe at 2 GB/s with the image on the node, to a network SSD read "
        "with the default loader at 0.31 GB/s after an image pull. A shared file system at "
        "0.1 GB/s takes three times longer."
    )


def load_time(checkpoint_gb: float, kind: str, pods: int = 1) -> LoadTime:
    """Range for a checkpoint of ``checkpoint_gb`` (10^9 bytes), read by each of ``pods`` nodes.

    ``kind`` is "dense", "moe" or "embedding". The fast end reads only the pod's share.
    """
    start_low, start_high = _START_SECONDS[kind]
    low = checkpoint_gb / pods / FAST_GBPS + start_low
    high = checkpoint_gb / SLOW_GBPS + start_high + _PULL_SECONDS
    formula = say(
        "{size} GB / {fast:g} GB/s + {start_low:g} s start, to {size} GB / {slow:g} GB/s + "
        "{start_high:g} s start + {pull:g} s image = {low} to {high}",
        size=f"{checkpoint_gb:.4g}",
        fast=FAST_GBPS,
        start_low=start_low,
        slow=SLOW_GBPS,
        start_high=start_high,
        pull=_PULL_SECONDS,
        low=duration_text(low),
        high=duration_text(high),
    )
    if pods > 1:
        formula = say(
            "per pod, {pods} pods at the fast end share the read: {formula}",
            pods=pods,
            formula=formula,
        )
    return LoadTime(low, high, Line(say("Load time"), formula, None, SOURCE))
