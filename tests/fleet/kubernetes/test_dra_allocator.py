"""What we call free, against the answers of Kubernetes' own allocator for random pools."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fleet.inventory import Units
from fleet.kubernetes.dra import read_dra
from fleet.kubernetes.objects import decoder

LINES = (Path(__file__).parents[2] / "data" / "dra" / "allocator.jsonl").read_text().splitlines()


def decoded(plural: str, items: list[Any]) -> list[Any]:
    decode = decoder(plural).decode
    return [decode(json.dumps(item)) for item in items]


def free(units: Units) -> int:
    return units.allocatable - units.requested


@pytest.mark.parametrize("number", range(len(LINES)))
def test_free_is_what_the_allocator_still_gives(number: int) -> None:
    case = json.loads(LINES[number])
    claims = [
        {"metadata": {"name": "c"}, "status": {"allocation": {"devices": {"results": [result]}}}}
        for result in case["Held"]
    ]
    found = read_dra(
        decoded("resourceslices.resource.k8s.io", case["Slices"]),
        decoded("resourceclaims.resource.k8s.io", claims),
        nodes=decoded("nodes", case["Nodes"]),
    )
    for node, given in case["Given"].items():
        here = list(found.by_node.get(node, ()))
        here += [d for pool in found.attached if node in pool.nodes for d in pool.devices]
        # A device of which a claim holds a share is given as well while something is left of it.
        ours = sum(free(d.units) + sum(part.open for part in d.partly_used) for d in here)
        assert ours == len(given)


def test_the_answers_are_no_trivial_ones() -> None:
    given = [len(slots) for line in LINES for slots in json.loads(line)["Given"].values()]
    assert len(LINES) == 100
    assert sum(given) > 200
    assert given.count(0) > 20
