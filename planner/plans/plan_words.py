"""How a plan speaks of shapes, proofs and times."""

from __future__ import annotations

import math

from django.utils.formats import number_format
from django.utils.translation import gettext as _

from fleet.placement.result import Status
from fleet.sizing.requirement import Shape
from fleet.units import duration_text


def shape_text(shape: Shape, replicas: int) -> str:
    """ "3 × (4 H100-SXM5-80GB)", "2 workers × 8 A100" for a gang."""
    if shape.pods > 1:
        text = _("%(pods)d workers × %(gpus)d %(unit)s") % {
            "pods": shape.pods,
            "gpus": shape.gpus_per_pod,
            "unit": shape.unit,
        }
    else:
        text = f"{shape.gpus_per_pod} {shape.unit}"
    return f"{replicas} × ({text})" if replicas > 1 else text


def proof_text(status: str, gap: float | None) -> str:
    """How good the answer is, as a sentence part: proven, within a gap, or unknown."""
    if status == Status.EMPTY:
        return _("Nothing to place")
    if gap is None:
        return _("Not proven: how far from the best possible is unknown")
    if gap == 0:
        return _("Proven best")
    return _("Within %(percent)s %% of the best possible") % {"percent": percent_text(gap)}


def percent_text(gap: float) -> str:
    """A relative gap in per cent, rounded up: it must never look better than it is."""
    return number_format(math.ceil(gap * 1000 - 1e-9) / 10, decimal_pos=1)


def seconds_text(seconds: float) -> str:
    """ "0.4 s" below ten seconds, else as people say it."""
    if seconds < 0.1:
        return _("less than 0.1 s")
    return f"{seconds:.1f} s" if seconds < 10 else duration_text(seconds)
