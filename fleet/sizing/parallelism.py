"""How one replica of a model can be split over GPUs and nodes, and which splits are legal.

The rules and their sources: docs/sizing.md, "Parallelism".
"""

from __future__ import annotations

from dataclasses import dataclass

from fleet.catalogue.models import Model
from fleet.words import say

SOURCE = "docs/sizing.md, Parallelism"
MAX_NODES = 8  # of one replica: pipeline stages over more nodes are not served in practice


@dataclass(frozen=True, slots=True)
class Split:
    """``tp`` GPUs share each layer, ``pp`` stages share the layers, ``pods`` nodes hold them."""

    tp: int
    pp: int
    pods: int
    expert_parallel: bool = False

    @property
    def gpus(self) -> int:
        return self.tp * self.pp

    @property
    def gpus_per_pod(self) -> int:
        return self.gpus // self.pods

    @property
    def label(self) -> str:
        text = f"TP{self.tp}"
        if self.expert_parallel:
            text = say("{split} with EP", split=text)
        return f"{text} × PP{self.pp}" if self.pp > 1 else text


def tensor_degrees(entry: Model, group: int, limit: int = 8) -> tuple[tuple[int, bool], ...]:
    """Legal degrees of tensor parallelism up to ``limit``, each with "needs expert parallel".

    TP divides the attention heads; KV heads divide TP or are divided by it; the feed-forward
    width of a GPU is whole, and a multiple of the quantisation group. Experts that cannot be cut
    stay whole (expert parallelism) where TP divides their number.
    """
    found = []
    for tp in range(1, limit + 1):
        if entry.num_heads % tp:
            continue
        kv = entry.num_kv_heads
        if not entry.is_mla and kv % tp and tp % kv:
            continue
        width = entry.expert_size if entry.is_moe else entry.intermediate_size
        cut = tp == 1 or width is None or (width % tp == 0 and (width // tp) % group == 0)
        if cut:
            found.append((tp, False))
        elif entry.is_moe and entry.num_experts % tp == 0:
            found.append((tp, True))
    return tuple(found)


def splits(entry: Model, group: int, node_gpus: int = 8) -> tuple[Split, ...]:
    """The splits to try, fewest GPUs first: one GPU, TP in a node, then TP × PP over nodes.

    Pipeline stages inside a node are tried only for GPU counts that TP cannot use.
    """
    degrees = tensor_degrees(entry, group, node_gpus)
    found = [Split(tp, 1, 1, expert) for tp, expert in degrees]
    by_tp = dict(degrees)
    for count in (2, 4, 8):
        if count > node_gpus or count in by_tp:
            continue
        tp = max(degree for degree in by_tp if count % degree == 0)
        found.append(Split(tp, count // tp, 1, by_tp[tp]))
    found = [split for split in found if split.pp <= entry.num_layers]
    # Over nodes only full nodes of a power of two are used, since stages must be equal.
    full = max((split for split in found if split.gpus in (1, 2, 4, 8)), key=lambda s: s.gpus)
    for pods in range(2, MAX_NODES + 1):
        if full.pp * pods <= entry.num_layers:
            found.append(Split(full.tp, full.pp * pods, pods, full.expert_parallel))
    return tuple(sorted(found, key=lambda split: (split.gpus, split.pp)))
